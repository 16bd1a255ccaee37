#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace client_test {

enum class Mode { async, sync, echo, push };

const char* to_string(Mode mode) noexcept;

struct Options {
  std::string server = "127.0.0.1:2500";
  bool single = false;
  /// Connections of the cable.
  std::size_t cable = 6;
  Mode mode = Mode::async;
  /// Bytes of a payload.
  std::size_t size = 64;
  /// Messages in all; unset: as many as go in `seconds`.
  std::optional<std::uint64_t> count;
  std::chrono::duration<double> seconds{5};
  std::size_t threads = 1;
  std::size_t io_threads = 1;
  /// Requests in flight on each connection.
  std::size_t window = 64;
  std::chrono::milliseconds timeout{10'000};
  /// Path, "-" for stdout, empty for none.
  std::string json;
  bool quiet = false;

  std::size_t connections() const noexcept { return single ? 1 : cable; }
};

/// The options, or the exit code when the program is to end now.
std::variant<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace client_test
