#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/byte_order.hpp"
#include "base/copy_bytes.hpp"
#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/policies.hpp"

namespace ntcpmsg::detail {

/// Bits of the flags byte (docs/protocol.md, "Flags").
namespace flag {
inline constexpr std::uint8_t sync = 0x01;
inline constexpr std::uint8_t encrypt_to_server = 0x02;
inline constexpr std::uint8_t encrypt_to_client = 0x04;
inline constexpr std::uint8_t inner = 0x08;
/// Ours: the reply carries an error (only between peers that agreed on it in the hello).
inline constexpr std::uint8_t error = 0x10;
}  // namespace flag

inline constexpr std::size_t frame_header_size = 16;
inline constexpr std::uint16_t frame_sync_word = 0xA5A5;
/// Channels from here on are chosen by servers, those below by clients.
inline constexpr std::uint32_t first_server_channel = 0x8000'0000;

struct FrameHeader {
  std::uint8_t flags = 0;
  std::uint32_t event = 0;
  std::uint16_t cable_id = 0;
  std::uint32_t channel = 0;
  /// Payload bytes, at most `max_payload_size`.
  std::uint32_t length = 0;

  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

/// A decoded message; the payload points into the buffer that was decoded.
struct Frame {
  FrameHeader header;
  BytesView payload;
};

// The 16 bytes are handled as two big-endian words:
//   sync(16) flags(8) event(32) cable high(8) | cable low(8) channel(32) length(24)

/// Writes the 16 header bytes.
inline void encode_header(const FrameHeader& header, std::byte* to) noexcept {
  assert(header.length <= max_payload_size);
  const std::uint64_t first = std::uint64_t{frame_sync_word} << 48 |
                              std::uint64_t{header.flags} << 40 | std::uint64_t{header.event} << 8 |
                              header.cable_id >> 8U;
  const std::uint64_t second = std::uint64_t{header.cable_id & 0xFFU} << 56 |
                               std::uint64_t{header.channel} << 24 | header.length;
  store_big(to, first);
  store_big(to + 8, second);
}

/// Reads them; the sync word is not checked.
inline FrameHeader decode_header(const std::byte* from) noexcept {
  const auto first = load_big<std::uint64_t>(from);
  const auto second = load_big<std::uint64_t>(from + 8);
  FrameHeader header;
  header.flags = static_cast<std::uint8_t>(first >> 40);
  header.event = static_cast<std::uint32_t>(first >> 8);
  header.cable_id = static_cast<std::uint16_t>((first & 0xFF) << 8 | second >> 56);
  header.channel = static_cast<std::uint32_t>(second >> 24);
  header.length = static_cast<std::uint32_t>(second & 0xFFFFFF);
  return header;
}

/// Writes header and payload, `frame_header_size + payload.size()` bytes. `header.length` must be
/// the payload's size.
inline void encode_frame(const FrameHeader& header, BytesView payload, std::byte* to) noexcept {
  assert(header.length == payload.size());
  encode_header(header, to);
  copy_bytes(to + frame_header_size, payload.data(), payload.size());
}

struct DecodeResult {
  /// Frames stored in `out`.
  std::size_t frames = 0;
  /// Bytes those frames take.
  std::size_t consumed = 0;
  /// Bytes of the incomplete frame behind them, header included; 0 while its header is not known.
  std::size_t needed = 0;
  /// `Errc::protocol_violation` or `Errc::message_limit_exceeded` for the bytes behind the frames.
  error_code error;
};

/// Decodes whole frames in place, as many as `out` takes. Never searches for a frame start: bytes
/// that are not the sync word where a frame must begin are an error, recognised at the first byte.
DecodeResult decode_frames(BytesView in,
                           std::span<Frame> out,
                           std::size_t max_message_size) noexcept;

/// Calls `visit(header, frame_bytes)` for each frame of a well-formed run of whole frames.
template <typename Visitor>
void for_each_frame(BytesView frames, Visitor&& visit) {
  while (!frames.empty()) {
    const FrameHeader header = decode_header(frames.data());
    const std::size_t size = frame_header_size + header.length;
    visit(header, frames.first(size));
    frames = frames.subspan(size);
  }
}

}  // namespace ntcpmsg::detail
