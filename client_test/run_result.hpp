#pragma once

#include <cstdint>
#include <optional>

#include "test_support/latency_histogram.hpp"
#include "test_support/server_counters.hpp"

namespace client_test {

/// What a run amounted to.
struct RunResult {
  /// Messages that arrived; for requests, those whose reply arrived.
  std::uint64_t messages = 0;
  /// Messages that did not arrive.
  std::uint64_t lost = 0;
  /// Messages that arrived with other contents than they were sent with.
  std::uint64_t corrupt = 0;
  double seconds = 0;
  /// In nanoseconds; empty when the mode measures none.
  test_support::LatencyHistogram latency;
  /// Of this process, during the run.
  double cpu_seconds = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  /// What the server counted during the run; unset when it could not be asked any more.
  std::optional<test_support::ServerCounters> server;
};

}  // namespace client_test
