#include <fmt/core.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <variant>

#include "options.hpp"
#include "stats_printer.hpp"
#include "test_server.hpp"
#include "test_support/command_line.hpp"
#include "test_support/exit_code.hpp"
#include "test_support/json_file.hpp"
#include "test_support/signal_watch.hpp"

namespace server_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds drain_limit{5};

Clock::duration to_ticks(std::chrono::duration<double> duration) {
  return std::chrono::duration_cast<Clock::duration>(duration);
}

/// Until a signal comes or the time is over.
void serve(const Options& options, const TestServer& server, test_support::SignalWatch& signals) {
  constexpr auto never = Clock::time_point::max();
  const auto start = Clock::now();
  const auto end = options.run_for.count() > 0 ? start + to_ticks(options.run_for) : never;
  auto next_line = options.stats.count() > 0 ? start + to_ticks(options.stats) : never;
  StatsPrinter printer;
  while (Clock::now() < end) {
    const auto wake_up = std::min(end, next_line);
    const auto limit = std::min<Clock::duration>(wake_up - Clock::now(), std::chrono::hours(1));
    if (signals.wait(limit)) return;
    if (Clock::now() < next_line) continue;
    printer.print(server.statistics());
    next_line += to_ticks(options.stats);
  }
}

void run(const Options& options) {
  test_support::SignalWatch signals;
  test_support::JsonFile json(options.json);
  TestServer server(options);
  for (const ntcpmsg::Endpoint& endpoint : server.listen(options.listen)) {
    fmt::print("listening on {}\n", ntcpmsg::to_string(endpoint));
  }
  test_support::flush_stdout();

  serve(options, server, signals);
  const Totals totals = server.shut_down(drain_limit);
  fmt::print("{}", to_table(totals));
  test_support::flush_stdout();
  json.write(to_json(totals));
}

}  // namespace
}  // namespace server_test

int main(int argc, char** argv) {
  test_support::occupy_standard_streams();
  try {
    const auto parsed = server_test::parse_options(argc, argv);
    if (const int* code = std::get_if<int>(&parsed)) return *code;
    spdlog::set_default_logger(spdlog::stderr_color_mt("server_test"));
    server_test::run(std::get<server_test::Options>(parsed));
  } catch (const std::exception& error) {
    test_support::print_error("server_test", error.what());
    return test_support::exit_failure;
  }
  return test_support::exit_success;
}
