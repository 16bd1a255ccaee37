#include "test_support/process_usage.hpp"

#include <ctime>

namespace test_support {

double process_cpu_seconds() noexcept {
  timespec used{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

}  // namespace test_support
