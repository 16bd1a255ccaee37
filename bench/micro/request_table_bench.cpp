#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "session/request_table.hpp"

namespace ntcpmsg::detail {
namespace {

constexpr std::size_t max_requests = 65'534;
constexpr RequestTable::Link link = 1;

/// As small as what a caller that waits leaves in the table.
ReplyCompletion count_in(int& answered) {
  return [&answered](error_code, BytesView) { ++answered; };
}

/// One more request comes and goes while so many others are in flight.
void add_and_take(benchmark::State& state) {
  RequestTable table(max_requests, 0);
  int answered = 0;
  const TimePoint deadline = Clock::now() + std::chrono::hours(1);
  for (std::int64_t i = 0; i < state.range(0); ++i) table.add(count_in(answered), link, deadline);
  for (auto _ : state) {
    const auto channel = table.add(count_in(answered), link, deadline);
    if (auto completion = table.take(channel, link)) completion({}, {});
  }
  state.SetItemsProcessed(state.iterations());
}

/// A window of requests, answered in the order in which they were asked.
void add_and_take_window(benchmark::State& state) {
  RequestTable table(max_requests, 0);
  int answered = 0;
  std::vector<std::uint32_t> channels(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (std::uint32_t& channel : channels) {
      channel = table.add(count_in(answered), link, TimePoint::max());
    }
    for (const std::uint32_t channel : channels) {
      benchmark::DoNotOptimize(table.take(channel, link));
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(add_and_take)->ArgName("in_flight")->Arg(0)->Arg(1024);
BENCHMARK(add_and_take_window)->ArgName("window")->Arg(256);

}  // namespace
}  // namespace ntcpmsg::detail
