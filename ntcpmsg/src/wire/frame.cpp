#include "wire/frame.hpp"

namespace ntcpmsg::detail {
namespace {

bool has_sync_word(const std::byte* at) noexcept {
  return load_big<std::uint16_t>(at) == frame_sync_word;
}

bool starts_like_a_frame(BytesView in) noexcept {
  constexpr std::byte mark{0xA5};
  return in[0] == mark && (in.size() < 2 || in[1] == mark);
}

/// What is behind the whole frames, at least one byte: the beginning of another, or an error.
void examine_rest(BytesView rest, std::size_t max_message_size, DecodeResult& result) noexcept {
  if (!starts_like_a_frame(rest)) {
    result.error = Errc::protocol_violation;
    return;
  }
  if (rest.size() < frame_header_size) return;
  const std::size_t length = decode_header(rest.data()).length;
  if (length > max_message_size) {
    result.error = Errc::message_limit_exceeded;
    return;
  }
  result.needed = frame_header_size + length;
}

}  // namespace

DecodeResult decode_frames(BytesView in,
                           std::span<Frame> out,
                           std::size_t max_message_size) noexcept {
  DecodeResult result;
  const std::byte* at = in.data();
  std::size_t left = in.size();
  while (result.frames < out.size() && left >= frame_header_size && has_sync_word(at)) {
    const FrameHeader header = decode_header(at);
    const std::size_t size = frame_header_size + header.length;
    if (header.length > max_message_size || left < size) break;
    out[result.frames++] = {header, {at + frame_header_size, header.length}};
    at += size;
    left -= size;
  }
  result.consumed = in.size() - left;
  if (left != 0 && result.frames < out.size()) {
    examine_rest(in.last(left), max_message_size, result);
  }
  return result;
}

}  // namespace ntcpmsg::detail
