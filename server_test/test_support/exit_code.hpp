#pragma once

namespace test_support {

/// Exit codes of the test programs.
inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

}  // namespace test_support
