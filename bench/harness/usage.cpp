#include "harness/usage.hpp"

#include <nlohmann/json.hpp>

#include "harness/syscall_counter.hpp"
#include "test_support/process_usage.hpp"

namespace bench {

Usage Usage::now() {
  Usage usage{.cpu_seconds = test_support::process_cpu_seconds()};
  // Null unless the counter library is preloaded.
  if (&bench_syscall_counts != nullptr) {
    const SyscallCounts counts = bench_syscall_counts();
    usage.writes = counts.writes;
    usage.reads = counts.reads;
  }
  return usage;
}

void to_json(nlohmann::ordered_json& json, const Usage& usage) {
  json = {{"cpu_seconds", usage.cpu_seconds}, {"writes", usage.writes}, {"reads", usage.reads}};
}

}  // namespace bench
