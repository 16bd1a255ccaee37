#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ntcpmsg::detail {

constexpr std::uint16_t swap_bytes(std::uint16_t v) noexcept { return __builtin_bswap16(v); }
constexpr std::uint32_t swap_bytes(std::uint32_t v) noexcept { return __builtin_bswap32(v); }
constexpr std::uint64_t swap_bytes(std::uint64_t v) noexcept { return __builtin_bswap64(v); }

template <std::endian Order, std::unsigned_integral T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return Order == std::endian::native ? value : swap_bytes(value);
}

template <std::endian Order, std::unsigned_integral T>
void store(std::byte* to, T value) noexcept {
  if (Order != std::endian::native) value = swap_bytes(value);
  std::memcpy(to, &value, sizeof value);
}

template <std::unsigned_integral T>
T load_big(const std::byte* from) noexcept {
  return load<std::endian::big, T>(from);
}

template <std::unsigned_integral T>
T load_little(const std::byte* from) noexcept {
  return load<std::endian::little, T>(from);
}

template <std::unsigned_integral T>
void store_big(std::byte* to, T value) noexcept {
  store<std::endian::big, T>(to, value);
}

template <std::unsigned_integral T>
void store_little(std::byte* to, T value) noexcept {
  store<std::endian::little, T>(to, value);
}

}  // namespace ntcpmsg::detail
