#pragma once

#include <array>
#include <iomanip>
#include <ostream>
#include <stdexcept>
#include <vector>

#include "hex.hpp"
#include "wire/frame.hpp"

namespace ntcpmsg::detail {

/// For the messages of failed expectations.
inline void PrintTo(const FrameHeader& header, std::ostream* out) {
  *out << std::hex << "flags " << unsigned{header.flags} << " event " << header.event << " cable "
       << header.cable_id << " channel " << header.channel << std::dec << " length "
       << header.length;
}

}  // namespace ntcpmsg::detail

namespace ntcpmsg::test {

/// A header whose length is that of the payload.
inline detail::FrameHeader header_for(BytesView payload,
                                      std::uint8_t flags = 0,
                                      std::uint32_t event = 0,
                                      std::uint16_t cable_id = 0,
                                      std::uint32_t channel = 0) {
  return {flags, event, cable_id, channel, static_cast<std::uint32_t>(payload.size())};
}

/// Appends one frame to `stream`.
inline void append_frame(Bytes& stream, const detail::FrameHeader& header, BytesView payload) {
  const std::size_t at = stream.size();
  stream.resize(at + detail::frame_header_size + payload.size());
  detail::encode_frame(header, payload, stream.data() + at);
}

inline Bytes one_frame(const detail::FrameHeader& header, BytesView payload) {
  Bytes stream;
  append_frame(stream, header, payload);
  return stream;
}

/// The frames of a stream that must consist of whole frames.
inline std::vector<detail::Frame> decode_whole(BytesView stream) {
  std::vector<detail::Frame> frames;
  while (!stream.empty()) {
    std::array<detail::Frame, 16> some;
    const auto result = detail::decode_frames(stream, some, max_payload_size);
    if (result.error || result.frames == 0) {
      throw std::runtime_error("not a run of whole frames: " + to_hex(stream.first(1)) + "...");
    }
    frames.insert(
        frames.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(result.frames));
    stream = stream.subspan(result.consumed);
  }
  return frames;
}

}  // namespace ntcpmsg::test
