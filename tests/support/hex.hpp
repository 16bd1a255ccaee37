#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ntcpmsg/bytes.hpp"

namespace ntcpmsg::test {

inline unsigned hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  throw std::invalid_argument("not a hexadecimal digit: '" + std::string(1, c) + "'");
}

/// The bytes of a hexadecimal text. Blanks and line ends may stand anywhere.
inline Bytes from_hex(std::string_view text) {
  Bytes bytes;
  bool half = false;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r') continue;
    const unsigned digit = hex_digit(c);
    if (half) {
      bytes.back() |= static_cast<std::byte>(digit);
    } else {
      bytes.push_back(static_cast<std::byte>(digit << 4));
    }
    half = !half;
  }
  if (half) throw std::invalid_argument("odd number of hexadecimal digits");
  return bytes;
}

inline std::string to_hex(BytesView bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte b : bytes) {
    text += digits[std::to_integer<std::size_t>(b >> 4)];
    text += digits[std::to_integer<std::size_t>(b & std::byte{0x0F})];
  }
  return text;
}

inline Bytes read_hex_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  return from_hex(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace ntcpmsg::test
