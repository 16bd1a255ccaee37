#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace bench {

/// What a process used up to a moment.
struct Usage {
  /// Of all threads, user and system.
  double cpu_seconds = 0;
  /// System calls that write to and read from descriptors; 0 unless the counter is preloaded.
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;

  static Usage now();

  friend Usage operator-(const Usage& a, const Usage& b) {
    return {a.cpu_seconds - b.cpu_seconds, a.writes - b.writes, a.reads - b.reads};
  }
};

void to_json(nlohmann::ordered_json& json, const Usage& usage);

}  // namespace bench
