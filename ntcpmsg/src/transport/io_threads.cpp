#include "ntcpmsg/io_threads.hpp"

#include <atomic>

#include "ntcpmsg/error.hpp"
#include "transport/io_thread.hpp"

namespace ntcpmsg {
namespace {

// Only a user handler that does not return can hold a thread longer than this.
constexpr std::chrono::seconds stop_timeout{2};

}  // namespace

struct IoThreads::State {
  std::atomic<std::size_t> next{0};
};

IoThreads::IoThreads(std::size_t count) : state_(std::make_unique<State>()) {
  if (count == 0) throw system_error(Errc::invalid_argument, "IoThreads needs at least 1 thread");
  for (std::size_t i = 0; i < count; ++i) {
    threads_.push_back(std::make_shared<detail::IoThread>(i));
    threads_.back()->start();
  }
}

IoThreads::~IoThreads() {
  const auto deadline = detail::Clock::now() + stop_timeout;
  for (const auto& thread : threads_) thread->stop(deadline);
}

bool IoThreads::running_in_this_thread() const noexcept {
  for (const auto& thread : threads_) {
    if (thread->running_in_this_thread()) return true;
  }
  return false;
}

boost::asio::io_context& IoThreads::context(std::size_t index) noexcept {
  return at(index)->context();
}

std::shared_ptr<detail::IoThread> IoThreads::next() noexcept {
  return at(state_->next.fetch_add(1, std::memory_order_relaxed));
}

const std::shared_ptr<detail::IoThread>& IoThreads::at(std::size_t index) const noexcept {
  return threads_[index % threads_.size()];
}

}  // namespace ntcpmsg
