#include "batch/outbound_buffer.hpp"

#include <cassert>
#include <utility>

namespace ntcpmsg::detail {

BytesView OutboundBuffer::next_chunk() noexcept {
  if (unwritten() == 0) {
    writing_.clear();
    written_ = 0;
    writing_.swap(filling_);
  }
  return writing_.view().subspan(written_);
}

void OutboundBuffer::consume(std::size_t count) noexcept {
  assert(count <= unwritten());
  written_ += count;
  if (unwritten() != 0) return;
  writing_.clear();
  written_ = 0;
  if (writing_.capacity() > kept_capacity) writing_.release();
}

Leftover OutboundBuffer::take_leftover() {
  Leftover leftover;
  std::size_t end = 0;
  for_each_frame(writing_.view(), [&](const FrameHeader&, BytesView frame) {
    end += frame.size();
    if (end <= written_) return;
    leftover.frames.append(frame);
    ++leftover.messages;
  });
  for_each_frame(filling_.view(), [&](const FrameHeader&, BytesView) { ++leftover.messages; });
  leftover.frames.append(filling_.view());
  writing_.release();
  filling_.release();
  written_ = 0;
  return leftover;
}

void OutboundBuffer::release() noexcept {
  assert(empty());
  filling_.release();
  writing_.release();
  written_ = 0;
}

void OutboundBuffer::put_back(Leftover leftover) {
  assert(unwritten() == 0);
  leftover.frames.append(filling_.view());
  filling_ = std::move(leftover.frames);
}

}  // namespace ntcpmsg::detail
