#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bench {

/// The 16-byte header of the wire format (docs/protocol.md), reduced to what the raw programs use:
/// event and channel. As good as the library's own: two 64-bit stores, two loads.
inline constexpr std::size_t raw_header_size = 16;

inline void encode_raw_header(std::byte* to,
                              std::uint32_t event,
                              std::uint32_t channel,
                              std::size_t length) noexcept {
  const std::uint64_t first =
      __builtin_bswap64(std::uint64_t{0xA5A5} << 48 | std::uint64_t{event} << 8);
  const std::uint64_t second = __builtin_bswap64(std::uint64_t{channel} << 24 | length);
  std::memcpy(to, &first, 8);
  std::memcpy(to + 8, &second, 8);
}

inline void encode_raw_frame(std::byte* to,
                             std::uint32_t event,
                             std::uint32_t channel,
                             std::span<const std::byte> payload) noexcept {
  encode_raw_header(to, event, channel, payload.size());
  std::memcpy(to + raw_header_size, payload.data(), payload.size());
}

struct RawFrame {
  std::uint32_t event = 0;
  std::uint32_t channel = 0;
  std::span<const std::byte> payload;
};

/// Calls `visit(frame)` for each whole frame; returns the bytes they take. Stops at bytes that are
/// no frame, like at an incomplete one: the caller's count then shows the loss.
template <typename Visitor>
std::size_t for_each_raw_frame(std::span<const std::byte> in, Visitor&& visit) {
  std::size_t done = 0;
  while (in.size() - done >= raw_header_size) {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::memcpy(&first, in.data() + done, 8);
    std::memcpy(&second, in.data() + done + 8, 8);
    first = __builtin_bswap64(first);
    second = __builtin_bswap64(second);
    const auto length = static_cast<std::size_t>(second & 0xFF'FFFF);
    if (first >> 48 != 0xA5A5 || in.size() - done - raw_header_size < length) break;
    visit(RawFrame{static_cast<std::uint32_t>(first >> 8),
                   static_cast<std::uint32_t>(second >> 24),
                   in.subspan(done + raw_header_size, length)});
    done += raw_header_size + length;
  }
  return done;
}

}  // namespace bench
