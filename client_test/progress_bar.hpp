#pragma once

#include <chrono>
#include <cstdint>

namespace client_test {

/// One line on the terminal that is rewritten; nothing when stderr is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(bool wanted);
  /// Removes the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws when the last drawing is old enough.
  void update(double fraction, std::uint64_t messages);

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool drawn_ = false;
  Clock::time_point last_time_ = Clock::now();
  std::uint64_t last_messages_ = 0;
};

}  // namespace client_test
