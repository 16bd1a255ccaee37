#include "batch/inbound_tail.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>

#include "frames.hpp"

namespace ntcpmsg::detail {
namespace {

constexpr std::size_t kib = 1024;

bool lies_in(BytesView part, BytesView whole) {
  return part.data() >= whole.data() && part.data() <= whole.data() + whole.size();
}

/// Bytes that differ from place to place, so that a lost or moved one is seen.
Bytes some_bytes(std::size_t count) {
  std::mt19937_64 random(count);
  Bytes bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

/// One connection's reading: a tail, the buffer it shares with others, and what was decoded.
class Reader {
 public:
  explicit Reader(std::size_t shared_size) : shared_(shared_size) {}

  /// Reads up to `most` bytes from the front of `in`; returns how many.
  std::size_t read(BytesView in, std::size_t most) {
    const std::size_t before = tail_.pending().size();
    const std::byte* const memory = tail_.pending().data();
    const std::span<std::byte> space = tail_.prepare(shared_);
    const std::size_t count = std::min({in.size(), most, space.size()});
    if (count != 0) std::memcpy(space.data(), in.data(), count);
    const bool in_shared = lies_in(space, shared_);
    const BytesView rest = process(tail_.commit(count));
    tail_.keep(rest, needed_);
    if (in_shared) {
      copied_ += before + rest.size();
    } else if (tail_.pending().data() != memory) {
      copied_ += before;
    }
    others_use_the_shared_buffer();
    return count;
  }

  void process_pending() { tail_.keep(process(tail_.pending()), needed_); }

  /// Decodes so many frames at most before it leaves the rest for later.
  void pause_after(std::size_t frames) { budget_ = frames; }

  InboundTail& tail() { return tail_; }
  std::size_t frames() const { return frames_; }
  const Bytes& decoded() const { return decoded_; }
  std::size_t copied() const { return copied_; }

 private:
  BytesView process(BytesView in) {
    needed_ = 0;
    while (budget_ > 0) {
      std::array<Frame, 8> frames;
      const std::span<Frame> out = std::span(frames).first(std::min(budget_, frames.size()));
      const DecodeResult result = decode_frames(in, out, max_payload_size);
      EXPECT_FALSE(result.error) << result.error.message();
      decoded_.insert(
          decoded_.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(result.consumed));
      frames_ += result.frames;
      budget_ -= result.frames;
      in = in.subspan(result.consumed);
      needed_ = result.needed;
      if (result.frames < out.size()) break;
    }
    return in;
  }

  void others_use_the_shared_buffer() {
    const std::size_t dirty = std::min(shared_.size(), tail_.pending().size() + 64);
    std::fill_n(shared_.begin(), dirty, std::byte{0xEE});
  }

  Bytes shared_;
  InboundTail tail_;
  std::size_t needed_ = 0;
  std::size_t budget_ = SIZE_MAX;
  Bytes decoded_;
  std::size_t frames_ = 0;
  std::size_t copied_ = 0;
};

TEST(InboundTail, lets_reads_go_straight_into_the_shared_buffer_when_nothing_is_kept) {
  Bytes shared(64 * kib);
  InboundTail tail;
  const auto space = tail.prepare(shared);
  EXPECT_EQ(space.data(), shared.data());
  EXPECT_EQ(space.size(), shared.size());
  EXPECT_EQ(tail.commit(10).data(), shared.data());
}

TEST(InboundTail, owns_no_memory_when_a_read_ends_with_a_frame) {
  Reader reader(64 * kib);
  const Bytes payload(100);
  const Bytes frame = test::one_frame(test::header_for(payload), payload);
  reader.read(frame, 50);
  EXPECT_EQ(reader.tail().pending().size(), 50U);
  reader.read(BytesView(frame).subspan(50), frame.size());
  EXPECT_EQ(reader.frames(), 1U);
  EXPECT_TRUE(reader.tail().empty());
  EXPECT_EQ(reader.tail().capacity(), 0U);
}

TEST(InboundTail, owns_no_memory_when_a_large_frame_is_complete) {
  Reader reader(64 * kib);
  const Bytes payload = some_bytes(1000 * kib);
  const Bytes frame = test::one_frame(test::header_for(payload), payload);
  BytesView in = frame;
  while (!in.empty()) in = in.subspan(reader.read(in, 30'000));
  EXPECT_EQ(reader.frames(), 1U);
  EXPECT_EQ(reader.decoded(), frame);
  EXPECT_EQ(reader.tail().capacity(), 0U);
}

TEST(InboundTail, keeps_no_memory_of_a_large_frame_for_the_beginning_of_the_next) {
  Reader reader(64 * kib);
  const Bytes payload = some_bytes(300 * kib);
  Bytes stream = test::one_frame(test::header_for(payload), payload);
  stream.insert(stream.end(), stream.begin(), stream.begin() + 10);
  BytesView in = stream;
  while (!in.empty()) in = in.subspan(reader.read(in, in.size()));
  EXPECT_EQ(reader.tail().pending().size(), 10U);
  EXPECT_LE(reader.tail().capacity(), kib);
}

TEST(InboundTail, keeps_what_it_had_when_a_read_finds_nothing) {
  Reader reader(64 * kib);
  const Bytes payload = some_bytes(100);
  const Bytes frame = test::one_frame(test::header_for(payload), payload);
  reader.read(frame, 60);
  reader.read({}, 0);
  reader.read({}, 0);
  EXPECT_TRUE(std::ranges::equal(reader.tail().pending(), BytesView(frame).first(60)));
}

TEST(InboundTail, forgets_everything_when_released) {
  Reader reader(64 * kib);
  reader.read(Bytes(1, std::byte{0xA5}), 1);
  reader.tail().release();
  EXPECT_TRUE(reader.tail().empty());
  EXPECT_EQ(reader.tail().capacity(), 0U);
}

/// The header of a frame of 16 MiB and the first bytes of its payload, `count` in all.
Bytes start_of_the_largest_frame(std::size_t count) {
  Bytes start(count);
  encode_header({.length = max_payload_size}, start.data());
  return start;
}

TEST(InboundTail, holds_memory_for_what_arrived_and_not_for_what_was_announced) {
  const Bytes start = start_of_the_largest_frame(100'000);
  for (const std::size_t piece : {1, 7, 1000, 1460, 16'384, 20'480, 40'960, 65'536, 99'999}) {
    Reader reader(256 * kib);
    std::size_t received = 0;
    while (received < start.size()) {
      received += reader.read(BytesView(start).subspan(received), piece);
      ASSERT_LE(reader.tail().capacity(), 2 * received + 128 * kib)
          << received << " bytes in pieces of " << piece;
    }
    ASSERT_EQ(reader.tail().pending().size(), start.size());
  }
}

TEST(InboundTail, holds_at_most_twice_what_arrived_however_the_pieces_are_cut) {
  std::mt19937_64 random(7);
  const Bytes start = start_of_the_largest_frame(2'000'000);
  for (int round = 0; round < 50; ++round) {
    Reader reader(256 * kib);
    std::size_t received = 0;
    while (received < start.size()) {
      const std::size_t piece = 1 + random() % (1U << (8 + random() % 12));
      received += reader.read(BytesView(start).subspan(received), piece);
      ASSERT_LE(reader.tail().capacity(), 2 * received + 128 * kib) << "round " << round;
    }
  }
}

TEST(InboundTail, does_not_copy_a_large_frame_that_trickles_in_over_and_over) {
  const Bytes payload = some_bytes(200'000);
  const Bytes frame = test::one_frame(test::header_for(payload), payload);
  Reader reader(256 * kib);
  for (std::size_t at = 0; at < frame.size(); ++at) reader.read(BytesView(frame).subspan(at), 1);
  EXPECT_EQ(reader.frames(), 1U);
  EXPECT_EQ(reader.decoded(), frame);
  // Up to 16 KiB are copied twice at each read, the rest only when memory grows. Copying all at
  // each read would be 40 GB.
  EXPECT_LE(reader.copied(), 16 * kib * 16 * kib + 8 * frame.size());
}

/// A stream of frames most of which are small and some larger than the shared buffer.
Bytes random_stream(std::mt19937_64& random, std::size_t frames) {
  Bytes stream;
  for (std::size_t i = 0; i < frames; ++i) {
    const std::size_t largest = random() % 40 == 0 ? 200'000 : random() % 4 == 0 ? 5000 : 60;
    const Bytes payload = some_bytes(random() % largest);
    test::append_frame(
        stream, test::header_for(payload, 0, static_cast<std::uint32_t>(i)), payload);
  }
  return stream;
}

std::size_t random_piece(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0: return random() % 4;
    case 1: return random() % 100;
    case 2: return random() % 3000;
    default: return random() % 100'000;
  }
}

TEST(InboundTail, gives_back_the_stream_however_it_was_cut) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const Bytes stream = random_stream(random, 200);
    Reader reader(64 * kib);
    BytesView in = stream;
    while (!in.empty()) in = in.subspan(reader.read(in, random_piece(random)));
    EXPECT_EQ(reader.frames(), 200U) << "seed " << seed;
    ASSERT_TRUE(reader.decoded() == stream) << "seed " << seed;
    EXPECT_TRUE(reader.tail().empty());
  }
}

TEST(InboundTail, gives_back_the_stream_to_a_reader_that_pauses_between_frames) {
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    std::mt19937_64 random(seed);
    const Bytes stream = random_stream(random, 200);
    Reader reader(64 * kib);
    BytesView in = stream;
    while (!in.empty() || reader.frames() < 200) {
      reader.pause_after(random() % 5);
      in = in.subspan(reader.read(in, random_piece(random)));
      reader.pause_after(random() % 50);
      reader.process_pending();
    }
    ASSERT_TRUE(reader.decoded() == stream) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ntcpmsg::detail
