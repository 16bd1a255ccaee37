#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace server_test {

struct Options {
  std::vector<std::string> listen{"127.0.0.1:2500"};
  std::size_t threads = 1;
  bool echo = false;
  /// 0: no broadcast.
  std::chrono::milliseconds push_interval{0};
  std::string push_text = "tick";
  /// 0: no line per interval.
  std::chrono::duration<double> stats{0};
  /// 0: until a signal comes.
  std::chrono::duration<double> run_for{0};
  /// Path, "-" for stdout, empty for none.
  std::string json;
};

/// The options, or the exit code when the program is to end now.
std::variant<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace server_test
