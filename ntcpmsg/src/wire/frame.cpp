#include "wire/frame.hpp"

#include <cassert>
#include <cstring>

#include "base/byte_order.hpp"

namespace ntcpmsg::detail {
namespace {

// The 16 bytes are handled as two big-endian words:
//   sync(16) flags(8) event(32) cable high(8) | cable low(8) channel(32) length(24)
constexpr std::uint64_t sync_bits = std::uint64_t{frame_sync_word} << 48;

bool starts_like_a_frame(BytesView in) noexcept {
  constexpr std::byte mark{0xA5};
  return in[0] == mark && (in.size() < 2 || in[1] == mark);
}

}  // namespace

void encode_header(const FrameHeader& header, std::byte* to) noexcept {
  assert(header.length <= max_payload_size);
  const std::uint64_t first = sync_bits | std::uint64_t{header.flags} << 40 |
                              std::uint64_t{header.event} << 8 | header.cable_id >> 8U;
  const std::uint64_t second = std::uint64_t{header.cable_id & 0xFFU} << 56 |
                               std::uint64_t{header.channel} << 24 | header.length;
  store_big(to, first);
  store_big(to + 8, second);
}

void encode_frame(const FrameHeader& header, BytesView payload, std::byte* to) noexcept {
  assert(header.length == payload.size());
  encode_header(header, to);
  if (!payload.empty()) std::memcpy(to + frame_header_size, payload.data(), payload.size());
}

FrameHeader decode_header(const std::byte* from) noexcept {
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

DecodeResult decode_frames(BytesView in,
                           std::span<Frame> out,
                           std::size_t max_message_size) noexcept {
  DecodeResult result;
  while (result.frames < out.size()) {
    const BytesView rest = in.subspan(result.consumed);
    if (rest.empty()) return result;
    if (!starts_like_a_frame(rest)) {
      result.error = Errc::protocol_violation;
      return result;
    }
    if (rest.size() < frame_header_size) return result;
    const FrameHeader header = decode_header(rest.data());
    if (header.length > max_message_size) {
      result.error = Errc::message_limit_exceeded;
      return result;
    }
    const std::size_t size = frame_header_size + header.length;
    if (rest.size() < size) {
      result.needed = size;
      return result;
    }
    out[result.frames++] = {header, rest.subspan(frame_header_size, header.length)};
    result.consumed += size;
  }
  return result;
}

}  // namespace ntcpmsg::detail
