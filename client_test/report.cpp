#include "report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "test_support/units.hpp"

namespace client_test {
namespace {

using nlohmann::ordered_json;
using test_support::with_unit;

double per_second(double amount, const RunResult& result) {
  return result.seconds > 0 ? amount / result.seconds : 0;
}

double bytes_of(const Options& options, const RunResult& result) {
  return static_cast<double>(result.messages) * static_cast<double>(options.size);
}

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

void add_row(std::string& table, std::string_view name, const std::string& value) {
  fmt::format_to(std::back_inserter(table), "{:<16}{}\n", name, value);
}

void add_latencies(std::string& table, const test_support::LatencyHistogram& latency) {
  if (latency.count() == 0) return;
  add_row(table,
          "latency us",
          fmt::format("p50 {:.1f}  p99 {:.1f}  p99.9 {:.1f}  max {:.1f}",
                      microseconds(latency.quantile(0.5)),
                      microseconds(latency.quantile(0.99)),
                      microseconds(latency.quantile(0.999)),
                      microseconds(latency.max())));
}

ordered_json latency_json(const test_support::LatencyHistogram& latency) {
  const auto value = [&latency](double quantile) {
    return latency.count() == 0 ? ordered_json()
                                : ordered_json(microseconds(latency.quantile(quantile)));
  };
  return {{"p50", value(0.5)}, {"p99", value(0.99)}, {"p999", value(0.999)}, {"max", value(1)}};
}

}  // namespace

std::string to_table(const Options& options, const RunResult& result) {
  const auto messages = static_cast<double>(result.messages);
  std::string table;
  add_row(table, "mode", to_string(options.mode));
  add_row(table,
          "connections",
          fmt::format("{} ({})", options.connections(), options.single ? "single" : "cable"));
  add_row(table, "size", fmt::format("{} B", options.size));
  if (options.mode == Mode::echo) {
    add_row(table, "window", fmt::format("{} per connection", options.window));
  } else if (options.mode != Mode::push) {
    add_row(table, "threads", fmt::to_string(options.threads));
  }
  add_row(table, "messages", fmt::to_string(result.messages));
  add_row(table, "lost", fmt::to_string(result.lost));
  add_row(table, "seconds", fmt::format("{:.3f}", result.seconds));
  add_row(table, "rate", with_unit(per_second(messages, result), "msg/s"));
  add_row(table, "payload rate", with_unit(per_second(bytes_of(options, result), result), "B/s"));
  add_latencies(table, result.latency);
  add_row(table, "cpu", fmt::format("{:.3f} s", result.cpu_seconds));
  if (result.server) {
    add_row(table, "server cpu", fmt::format("{:.3f} s", result.server->cpu_seconds));
  }
  add_row(table, "writes", fmt::to_string(result.writes));
  add_row(table, "reads", fmt::to_string(result.reads));
  return table;
}

ordered_json to_json(const Options& options, const RunResult& result, const std::string& error) {
  return {
      {"mode", to_string(options.mode)},
      {"size", options.size},
      {"connections", options.connections()},
      {"single", options.single},
      {"threads", options.threads},
      {"io_threads", options.io_threads},
      {"window", options.mode == Mode::echo ? ordered_json(options.window) : ordered_json()},
      {"complete", error.empty()},
      {"error", error.empty() ? ordered_json() : ordered_json(error)},
      {"messages", result.messages},
      {"lost", result.lost},
      {"corrupt", result.corrupt},
      {"seconds", result.seconds},
      {"messages_per_second", per_second(static_cast<double>(result.messages), result)},
      {"bytes_per_second", per_second(bytes_of(options, result), result)},
      {"cpu_seconds", result.cpu_seconds},
      {"writes", result.writes},
      {"reads", result.reads},
      {"latency_us", latency_json(result.latency)},
      {"server", result.server ? ordered_json(nlohmann::json(*result.server)) : ordered_json()},
  };
}

}  // namespace client_test
