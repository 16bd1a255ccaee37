#pragma once

#include <string>
#include <string_view>

namespace test_support {

/// An amount in three digits with a unit: "950 B", "12.3 kB", "1.25 MB".
std::string with_unit(double value, std::string_view unit);

}  // namespace test_support
