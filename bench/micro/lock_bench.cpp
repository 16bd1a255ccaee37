#include <benchmark/benchmark.h>

#include <cstdint>
#include <mutex>

#include "base/brief_lock.hpp"

namespace ntcpmsg::detail {
namespace {

/// One lock that all threads of a benchmark take, for a section as short as appending a message.
template <typename Lock>
void lock_and_unlock(benchmark::State& state) {
  static Lock lock;
  static std::uint64_t counter = 0;
  for (auto _ : state) {
    const std::lock_guard guard(lock);
    benchmark::DoNotOptimize(++counter);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(lock_and_unlock<BriefLock>)
    ->Name("lock_and_unlock/brief_lock")
    ->Threads(1)
    ->Threads(2)
    ->Threads(4)
    ->UseRealTime();
BENCHMARK(lock_and_unlock<std::mutex>)
    ->Name("lock_and_unlock/std_mutex")
    ->Threads(1)
    ->Threads(2)
    ->Threads(4)
    ->UseRealTime();

}  // namespace
}  // namespace ntcpmsg::detail
