#include "run_mode.hpp"

#include <fmt/core.h>

#include "counter_query.hpp"
#include "test_support/process_usage.hpp"

namespace client_test {
namespace {

RunResult dispatch(const RunContext& context) {
  switch (context.options.mode) {
    case Mode::async: return run_async(context);
    case Mode::sync: return run_sync(context);
    case Mode::echo: return run_echo(context);
    case Mode::push: return run_push(context);
  }
  return {};
}

}  // namespace

RunResult run_mode(ntcpmsg::MessageClient& client, const Options& options, RunControl& control) {
  ntcpmsg::error_code ec;
  const auto before = ask_counters(client, ec);
  if (!before) {
    control.fail(ec ? fmt::format("a request failed: {}", ec.message())
                    : "the server does not answer as server_test does");
    return {};
  }

  const ntcpmsg::Statistics statistics = client.statistics();
  const double cpu_seconds = test_support::process_cpu_seconds();
  RunResult result = dispatch({client, options, control, *before});
  result.cpu_seconds = test_support::process_cpu_seconds() - cpu_seconds;
  const ntcpmsg::Statistics after = client.statistics();
  result.reads = after.reads - statistics.reads;
  result.writes = after.writes - statistics.writes;

  if (client.connected()) {
    if (const auto counters = ask_counters(client, ec)) result.server = counters->since(*before);
  }
  return result;
}

}  // namespace client_test
