#pragma once

#include <cstdint>

namespace bench {

struct SyscallCounts {
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
};

}  // namespace bench

/// Provided by the library that LD_PRELOAD puts before the C library; null without it.
extern "C" __attribute__((weak)) bench::SyscallCounts bench_syscall_counts() noexcept;
