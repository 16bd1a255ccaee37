#include "transport/io_thread.hpp"

#include <utility>

namespace ntcpmsg::detail {
namespace {

thread_local IoThread* current_thread = nullptr;

// For what is ready when the loop ends. Only a user's handler that calls for itself again and again
// needs more.
constexpr std::chrono::seconds wind_up_time{1};

}  // namespace

IoThread::IoThread(std::size_t index)
    : index_(index),
      work_(context_.get_executor()),
      read_buffer_(std::make_unique_for_overwrite<std::byte[]>(read_buffer_size)) {}

IoThread* IoThread::current() noexcept { return current_thread; }

void IoThread::start() {
  // The thread keeps the loop it runs alive, even when its owner lets go of it in a handler.
  thread_ = std::thread([self = shared_from_this()]() mutable {
    current_thread = self.get();
    self->context_.run();
    self->wind_up();
    self->finished_.set();
    current_thread = nullptr;
    self.reset();
  });
}

void IoThread::wind_up() {
  context_.restart();
  const TimePoint deadline = Clock::now() + wind_up_time;
  while (Clock::now() < deadline && context_.poll_one() != 0) {
  }
  context_.shutdown();
}

void IoThread::stop(TimePoint deadline) {
  context_.stop();
  if (running_in_this_thread() || !finished_.wait_until(deadline)) {
    thread_.detach();
    return;
  }
  thread_.join();
}

}  // namespace ntcpmsg::detail
