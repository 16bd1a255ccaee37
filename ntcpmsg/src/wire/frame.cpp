#include "wire/frame.hpp"

namespace ntcpmsg::detail {
namespace {

bool starts_like_a_frame(BytesView in) noexcept {
  constexpr std::byte mark{0xA5};
  return in[0] == mark && (in.size() < 2 || in[1] == mark);
}

}  // namespace

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
