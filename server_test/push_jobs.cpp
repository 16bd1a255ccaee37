#include "push_jobs.hpp"

#include <nlohmann/json.hpp>
#include <ntcpmsg/options.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace server_test {
namespace {

PushOrder parse_order(std::string_view text) {
  const auto json = nlohmann::json::parse(text);
  PushOrder order;
  order.count = json.at("count").get<std::uint64_t>();
  order.size = json.at("size").get<std::size_t>();
  if (order.size > ntcpmsg::max_payload_size) throw std::invalid_argument("size is too large");
  return order;
}

}  // namespace

void PushJobs::start(ntcpmsg::Message& message) {
  const PushOrder order = parse_order(message.text());
  const std::lock_guard lock(mutex_);
  if (stopped_) throw std::runtime_error("the server is shutting down");
  message.reply(ntcpmsg::as_bytes("{}"));
  remove_done();
  auto& job = jobs_[ClientKey::of(message)];
  if (job) retire(std::move(job));
  job = std::make_unique<PushJob>(message.session(), order);
}

void PushJobs::stop(ntcpmsg::Message& message) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(ClientKey::of(message));
  if (found == jobs_.end()) throw std::invalid_argument("nothing is pushed to this client");
  found->second->stop(message.take_responder());
}

void PushJobs::stop_all() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const auto& [client, job] : jobs_) job->stop();
}

std::uint64_t PushJobs::pushed() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = pushed_before_;
  for (const auto& [client, job] : jobs_) sum += job->pushed();
  for (const auto& job : ending_) sum += job->pushed();
  return sum;
}

void PushJobs::retire(std::unique_ptr<PushJob> job) {
  job->stop();
  ending_.push_back(std::move(job));
}

void PushJobs::remove_done() {
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    if (it->second->done()) {
      ending_.push_back(std::move(it->second));
      it = jobs_.erase(it);
    } else {
      ++it;
    }
  }
  std::erase_if(ending_, [this](const std::unique_ptr<PushJob>& job) {
    if (!job->done()) return false;
    pushed_before_ += job->pushed();
    return true;
  });
}

}  // namespace server_test
