#include "test_support/signal_watch.hpp"

#include <algorithm>
#include <ctime>

namespace test_support {

SignalWatch::SignalWatch() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

bool SignalWatch::wait(std::chrono::nanoseconds limit) {
  if (arrived_) return true;
  limit = std::max(limit, std::chrono::nanoseconds(0));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  timespec left{};
  left.tv_sec = seconds.count();
  left.tv_nsec = static_cast<long>((limit - seconds).count());
  if (sigtimedwait(&signals_, nullptr, &left) < 0) return false;

  arrived_ = true;
  // A shell starts background jobs with SIGINT ignored.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  return true;
}

}  // namespace test_support
