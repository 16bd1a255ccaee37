#include "progress_bar.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "test_support/units.hpp"

namespace client_test {
namespace {

constexpr std::chrono::milliseconds redraw_interval{200};
constexpr double width = 30;

}  // namespace

ProgressBar::ProgressBar(bool wanted) : enabled_(wanted && ::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::update(double fraction, std::uint64_t messages) {
  const auto now = Clock::now();
  if (!enabled_ || now - last_time_ < redraw_interval) return;
  const double seconds = std::chrono::duration<double>(now - last_time_).count();
  fraction = std::clamp(fraction, 0.0, 1.0);
  fmt::print(
      stderr,
      "\r[{:<{}}] {:3.0f}%  {}\x1b[K",
      std::string(static_cast<std::size_t>(fraction * width), '#'),
      static_cast<int>(width),
      fraction * 100,
      test_support::with_unit(static_cast<double>(messages - last_messages_) / seconds, "msg/s"));
  std::fflush(stderr);
  drawn_ = true;
  last_time_ = now;
  last_messages_ = messages;
}

}  // namespace client_test
