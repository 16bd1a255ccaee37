#include "batch/outbound_buffer.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "frames.hpp"

namespace ntcpmsg::detail {
namespace {

using test::decode_whole;
using testing::ElementsAre;
using testing::IsEmpty;

/// Appends a message of this many bytes, header included.
void append(OutboundBuffer& buffer, std::uint32_t event, std::size_t bytes) {
  const Bytes payload(bytes - frame_header_size, static_cast<std::byte>(event));
  buffer.append(test::header_for(payload, 0, event), payload);
}

std::vector<std::uint32_t> events(BytesView stream) {
  std::vector<std::uint32_t> found;
  for (const Frame& frame : decode_whole(stream)) found.push_back(frame.header.event);
  return found;
}

TEST(OutboundBuffer, is_empty_at_first) {
  OutboundBuffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_TRUE(buffer.next_chunk().empty());
  EXPECT_EQ(buffer.take_leftover().messages, 0U);
}

TEST(OutboundBuffer, encodes_header_and_payload_as_a_frame) {
  OutboundBuffer buffer;
  const Bytes payload = test::from_hex("0102ff");
  const FrameHeader header = test::header_for(payload, flag::sync, 7, 8, 9);
  buffer.append(header, payload);
  const BytesView chunk = buffer.next_chunk();
  const auto frames = decode_whole(chunk);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].header, header);
  EXPECT_EQ(test::to_hex(frames[0].payload), "0102ff");
}

TEST(OutboundBuffer, gives_all_that_gathered_as_one_chunk) {
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  append(buffer, 2, 30);
  EXPECT_EQ(buffer.gathered(), 50U);
  EXPECT_THAT(events(buffer.next_chunk()), ElementsAre(1, 2));
  EXPECT_EQ(buffer.gathered(), 0U);
  EXPECT_EQ(buffer.size(), 50U);
}

TEST(OutboundBuffer, leaves_a_chunk_in_place_whatever_is_appended) {
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  const BytesView chunk = buffer.next_chunk();
  for (int i = 0; i < 100; ++i) append(buffer, 2, 10'000);
  EXPECT_EQ(buffer.next_chunk().data(), chunk.data());
  EXPECT_THAT(events(chunk), ElementsAre(1));
}

TEST(OutboundBuffer, gives_the_rest_of_a_chunk_before_what_gathered_meanwhile) {
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  const BytesView chunk = buffer.next_chunk();
  append(buffer, 2, 30);
  buffer.consume(5);
  EXPECT_EQ(buffer.next_chunk().size(), 15U);
  EXPECT_EQ(buffer.next_chunk().data(), chunk.data() + 5);
  buffer.consume(15);
  EXPECT_THAT(events(buffer.next_chunk()), ElementsAre(2));
}

TEST(OutboundBuffer, counts_only_what_is_not_written) {
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  append(buffer, 2, 30);
  buffer.next_chunk();
  buffer.consume(25);
  EXPECT_EQ(buffer.size(), 25U);
  buffer.consume(25);
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_TRUE(buffer.empty());
}

TEST(OutboundBuffer, keeps_the_order_of_frames_another_buffer_had_accepted) {
  OutboundBuffer other;
  append(other, 2, 20);
  append(other, 3, 20);
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  buffer.append_frames(other.next_chunk());
  append(buffer, 4, 20);
  EXPECT_THAT(events(buffer.next_chunk()), ElementsAre(1, 2, 3, 4));
}

TEST(OutboundBuffer, leaves_over_the_frame_begun_from_its_start_and_all_behind_it) {
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  append(buffer, 2, 30);
  buffer.next_chunk();
  append(buffer, 3, 40);
  buffer.consume(21);
  const Leftover leftover = buffer.take_leftover();
  EXPECT_EQ(leftover.messages, 2U);
  EXPECT_THAT(events(leftover.frames.view()), ElementsAre(2, 3));
  EXPECT_TRUE(buffer.empty());
}

TEST(OutboundBuffer, leaves_over_a_frame_that_misses_its_last_byte) {
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  append(buffer, 2, 30);
  buffer.next_chunk();
  buffer.consume(19);
  EXPECT_THAT(events(buffer.take_leftover().frames.view()), ElementsAre(1, 2));
}

TEST(OutboundBuffer, leaves_over_no_frame_that_was_written_to_its_last_byte) {
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  append(buffer, 2, 30);
  buffer.next_chunk();
  buffer.consume(20);
  EXPECT_THAT(events(buffer.take_leftover().frames.view()), ElementsAre(2));
}

TEST(OutboundBuffer, leaves_nothing_over_when_all_was_written) {
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  buffer.next_chunk();
  buffer.consume(20);
  const Leftover leftover = buffer.take_leftover();
  EXPECT_EQ(leftover.messages, 0U);
  EXPECT_TRUE(leftover.frames.empty());
}

TEST(OutboundBuffer, writes_what_was_put_back_before_what_gathered) {
  OutboundBuffer buffer;
  append(buffer, 1, 20);
  append(buffer, 2, 20);
  Leftover leftover = buffer.take_leftover();
  append(buffer, 3, 20);
  buffer.put_back(std::move(leftover));
  EXPECT_EQ(buffer.size(), 60U);
  EXPECT_THAT(events(buffer.next_chunk()), ElementsAre(1, 2, 3));
}

/// Does the same to a buffer and to a list of frame sizes, numbered in the order of appending.
class BufferWithModel {
 public:
  void step() {
    switch (below(20)) {
      case 0: return lose_the_connection();
      case 1: return write(buffer_.next_chunk().size());
      case 2:
      case 3:
      case 4:
      case 5: return write(below(buffer_.next_chunk().size() + 1));
      default: return append_one();
    }
  }

  void check() const { ASSERT_EQ(buffer_.size(), waiting_); }

  /// The events of all frames that arrived whole, over all connections.
  std::vector<std::uint32_t> arrived() {
    lose_the_connection();
    while (!buffer_.empty()) write(buffer_.next_chunk().size());
    take_whole_frames();
    return arrived_;
  }
  std::uint32_t appended() const { return next_; }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void append_one() {
    const std::size_t bytes = frame_header_size + below(below(10) == 0 ? 5000 : 50);
    append(buffer_, next_++, bytes);
    sizes_.push_back(bytes);
    waiting_ += bytes;
  }

  void write(std::size_t count) {
    const BytesView chunk = buffer_.next_chunk().first(count);
    received_.insert(received_.end(), chunk.begin(), chunk.end());
    buffer_.consume(count);
    waiting_ -= count;
  }

  void lose_the_connection() {
    take_whole_frames();
    Leftover leftover = buffer_.take_leftover();
    ASSERT_EQ(leftover.messages, sizes_.size());
    ASSERT_EQ(events(leftover.frames.view()).size(), sizes_.size());
    waiting_ = leftover.frames.size();
    for (std::size_t i = below(3); i > 0; --i) append_one();
    buffer_.put_back(std::move(leftover));
  }

  /// What the peer of a broken connection has: its last frame may be incomplete.
  void take_whole_frames() {
    BytesView stream = received_;
    while (!sizes_.empty() && stream.size() >= sizes_.front()) {
      for (const std::uint32_t event : events(stream.first(sizes_.front()))) {
        arrived_.push_back(event);
      }
      stream = stream.subspan(sizes_.front());
      sizes_.pop_front();
    }
    received_.clear();
  }

  std::mt19937_64 random_{1811};
  OutboundBuffer buffer_;
  std::deque<std::size_t> sizes_;
  std::size_t waiting_ = 0;
  std::uint32_t next_ = 0;
  Bytes received_;
  std::vector<std::uint32_t> arrived_;
};

TEST(OutboundBuffer, loses_doubles_and_reorders_nothing_over_many_connections) {
  BufferWithModel both;
  for (int i = 0; i < 20'000; ++i) {
    both.step();
    ASSERT_NO_FATAL_FAILURE(both.check()) << "step " << i;
  }
  const auto arrived = both.arrived();
  ASSERT_EQ(arrived.size(), both.appended());
  for (std::uint32_t i = 0; i < arrived.size(); ++i) ASSERT_EQ(arrived[i], i);
}

}  // namespace
}  // namespace ntcpmsg::detail
