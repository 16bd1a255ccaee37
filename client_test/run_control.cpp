#include "run_control.hpp"

#include <fmt/core.h>

#include <utility>

namespace client_test {

void RunControl::fail(std::string reason) {
  {
    const std::lock_guard lock(mutex_);
    if (reason_.empty()) reason_ = std::move(reason);
  }
  stop();
}

void RunControl::remark(std::string text) {
  const std::lock_guard lock(mutex_);
  if (remark_.empty()) remark_ = std::move(text);
}

std::string RunControl::failure() const {
  const std::lock_guard lock(mutex_);
  if (reason_.empty() || remark_.empty()) return reason_;
  return fmt::format("{} ({})", reason_, remark_);
}

}  // namespace client_test
