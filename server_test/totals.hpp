#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <ntcpmsg/listener.hpp>
#include <string>

namespace server_test {

/// What a run of the server amounted to.
struct Totals {
  double seconds = 0;
  double cpu_seconds = 0;
  ntcpmsg::Statistics statistics;
  ntcpmsg::Listener::DrainResult drain;
  /// Messages that `--echo` could not send back.
  std::uint64_t echo_dropped = 0;
  /// Messages pushed on request of clients.
  std::uint64_t pushed = 0;
  /// Messages queued for clients by `--push-interval`.
  std::uint64_t broadcast = 0;
};

/// As lines of text.
std::string to_table(const Totals& totals);
nlohmann::ordered_json to_json(const Totals& totals);

}  // namespace server_test
