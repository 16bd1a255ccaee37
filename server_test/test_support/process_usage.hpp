#pragma once

namespace test_support {

/// Processor time that all threads of this process used so far, in seconds.
double process_cpu_seconds() noexcept;

}  // namespace test_support
