#include "push_job.hpp"

#include <nlohmann/json.hpp>
#include <ntcpmsg/error.hpp>
#include <utility>

#include "test_support/numbered_payload.hpp"
#include "test_support/test_events.hpp"

namespace server_test {

PushJob::PushJob(ntcpmsg::SessionHandle session, const PushOrder& order)
    : session_(std::move(session)),
      order_(order),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void PushJob::stop() { thread_.request_stop(); }

void PushJob::stop(ntcpmsg::Responder responder) {
  thread_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    if (!done_) {
      responder_ = std::move(responder);
      return;
    }
  }
  answer(responder);
}

bool PushJob::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

void PushJob::run(const std::stop_token& stop) {
  push_all(stop);
  ntcpmsg::Responder responder;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
    responder = std::move(responder_);
  }
  if (responder) answer(responder);
}

void PushJob::push_all(const std::stop_token& stop) {
  test_support::NumberedPayload payload(order_.size);
  std::uint64_t number = 0;
  while (!stop.stop_requested() && (order_.count == 0 || number < order_.count)) {
    payload.set_number(number);
    ntcpmsg::error_code ec;
    session_.push(test_support::events::push_data, payload.view(), ec);
    if (ec == ntcpmsg::Errc::would_block) continue;
    if (ec) return;
    pushed_.store(++number, std::memory_order_relaxed);
  }
}

void PushJob::answer(ntcpmsg::Responder& responder) const {
  const std::string text = nlohmann::json{{"pushed", pushed()}}.dump();
  ntcpmsg::error_code gone;
  responder.reply(ntcpmsg::as_bytes(text), gone);
}

}  // namespace server_test
