#pragma once

#include <ntcpmsg/message_client.hpp>

#include "options.hpp"
#include "run_control.hpp"
#include "run_result.hpp"
#include "test_support/server_counters.hpp"

namespace client_test {

/// What every mode works with.
struct RunContext {
  ntcpmsg::MessageClient& client;
  const Options& options;
  RunControl& control;
  /// The counters of the server at the start.
  test_support::ServerCounters before;
};

/// Nothing arrives for this long: the rest is lost.
inline constexpr std::chrono::seconds stall_limit{10};

/// Run until the count is reached or `control` says stop, and return messages, losses, seconds and
/// latencies. Failures go to `control`.
RunResult run_async(const RunContext& context);
RunResult run_sync(const RunContext& context);
RunResult run_echo(const RunContext& context);
RunResult run_push(const RunContext& context);

/// Runs the mode of the options and completes its result.
RunResult run_mode(ntcpmsg::MessageClient& client, const Options& options, RunControl& control);

}  // namespace client_test
