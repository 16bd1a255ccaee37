#include "test_support/units.hpp"

#include <fmt/core.h>

#include <array>
#include <cstddef>

namespace test_support {

std::string with_unit(double value, std::string_view unit) {
  static constexpr std::array<std::string_view, 5> prefixes{"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  // 999.5 would be printed as "1000".
  while (value >= 999.5 && prefix + 1 < prefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  if (prefix == 0) return fmt::format("{:.0f} {}", value, unit);
  const int digits = value < 9.995 ? 2 : (value < 99.95 ? 1 : 0);
  return fmt::format("{:.{}f} {}{}", value, digits, prefixes.at(prefix), unit);
}

}  // namespace test_support
