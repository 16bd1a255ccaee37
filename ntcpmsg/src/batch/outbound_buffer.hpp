#pragma once

#include <cstddef>

#include "base/byte_buffer.hpp"
#include "wire/frame.hpp"

namespace ntcpmsg::detail {

/// Frames that were accepted and not completely written, as one run of bytes.
struct Leftover {
  ByteBuffer frames;
  std::size_t messages = 0;
};

/// Two swapped buffers: senders append to one while the writer empties the other. Not thread-safe,
/// but for one exception: the bytes of `chunk` stay put until `consume`, whatever is appended.
class OutboundBuffer {
 public:
  /// Bytes that wait, in both buffers.
  std::size_t size() const noexcept { return filling_.size() + unwritten(); }
  /// Bytes gathered since the last `next_chunk`.
  std::size_t gathered() const noexcept { return filling_.size(); }
  bool empty() const noexcept { return size() == 0; }

  void append(const FrameHeader& header, BytesView payload) {
    filling_.prepare(frame_header_size + payload.size());
    append_in_room(header, payload);
  }
  /// The same when `room` is enough. Inlined by order, so that the header stays in registers.
  [[gnu::always_inline]] void append_in_room(const FrameHeader& header,
                                             BytesView payload) noexcept {
    encode_frame(header, payload, filling_.free_room());
    filling_.commit(frame_header_size + payload.size());
  }
  /// Bytes that can be appended without taking memory.
  std::size_t room() const noexcept { return filling_.room(); }

  /// Appends whole frames.
  void append_frames(BytesView frames) { filling_.append(frames); }

  /// What to write next: the rest of the current chunk, else all that gathered. Empty when nothing
  /// waits.
  BytesView next_chunk() noexcept;

  /// Marks the first `count` bytes of the chunk as written.
  void consume(std::size_t count) noexcept;

  /// Takes out everything not completely written, the frame begun included, from its start.
  Leftover take_leftover();

  /// Puts frames back in front of what gathered. Only when no chunk is being written.
  void put_back(Leftover leftover);

  /// Bytes of memory held.
  std::size_t capacity() const noexcept { return filling_.capacity() + writing_.capacity(); }
  /// Gives the memory back. Only when empty.
  void release() noexcept;

 private:
  std::size_t unwritten() const noexcept { return writing_.size() - written_; }

  // What a single large message needed goes at once. Giving back what congestion needs again in a
  // moment would cost a burst a tenth of its speed in page faults.
  static constexpr std::size_t kept_capacity = 2 * 1024 * 1024;

  ByteBuffer filling_;
  ByteBuffer writing_;
  // Kept apart from `writing_`'s own front, so that the begun frame is whole after a loss.
  std::size_t written_ = 0;
};

}  // namespace ntcpmsg::detail
