#include "wire/frame.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "frames.hpp"
#include "hex.hpp"

namespace ntcpmsg::detail {
namespace {

using test::append_frame;
using test::from_hex;
using test::header_for;
using test::one_frame;
using test::to_hex;

constexpr FrameHeader sample_header{0x12, 0x3456789A, 0xBCDE, 0xF0123457, 0x89ABCD};
constexpr std::size_t sample_size = 20;

/// Payload AA BB CC DD behind a header without a zero byte but for the length.
Bytes sample_frame() {
  const Bytes payload = from_hex("aabbccdd");
  return one_frame(header_for(payload, 0x01, 0x11121314, 0x2122, 0x31323334), payload);
}

Bytes header_bytes(const FrameHeader& header) {
  Bytes bytes(frame_header_size);
  encode_header(header, bytes.data());
  return bytes;
}

DecodeResult decode(BytesView in, std::span<Frame> out) {
  return decode_frames(in, out, max_payload_size);
}

Bytes concat(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(FrameHeader, has_each_field_at_its_offset_most_significant_byte_first) {
  EXPECT_EQ(to_hex(header_bytes(sample_header)),
            "a5a5"      // 0: sync word
            "12"        // 2: flags
            "3456789a"  // 3: event
            "bcde"      // 7: cable id
            "f0123457"  // 9: channel
            "89abcd");  // 13: length
}

TEST(FrameHeader, with_all_fields_zero_is_the_sync_word_and_zeros) {
  EXPECT_EQ(to_hex(header_bytes({})), "a5a50000000000000000000000000000");
}

TEST(FrameHeader, with_all_fields_at_their_maximum_keeps_the_sync_word) {
  const FrameHeader header{0xFF, 0xFFFFFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFF};
  EXPECT_EQ(to_hex(header_bytes(header)), "a5a5ffffffffffffffffffffffffffff");
}

TEST(FrameHeader, is_decoded_to_what_was_encoded) {
  EXPECT_EQ(decode_header(header_bytes(sample_header).data()), sample_header);
}

TEST(FrameHeader, keeps_every_single_bit_apart) {
  for (unsigned bit = 16; bit < 8 * frame_header_size; ++bit) {
    Bytes bytes = header_bytes({});
    bytes[bit / 8] |= std::byte{1} << (bit % 8);
    EXPECT_EQ(header_bytes(decode_header(bytes.data())), bytes) << "bit " << bit;
  }
}

TEST(Frame, is_encoded_as_header_then_payload) {
  EXPECT_EQ(to_hex(sample_frame()), "a5a50111121314212231323334000004aabbccdd");
}

// The examples of docs/protocol.md, "Frame" and "Error replies".

TEST(Frame, of_a_message_has_the_documented_bytes) {
  const Bytes payload = from_hex("00010203");
  EXPECT_EQ(to_hex(one_frame(header_for(payload, 0, 10, 0, 1), payload)),
            "a5a5000000000a00000000000100000400010203");
}

TEST(Frame, of_an_error_reply_has_the_documented_bytes) {
  const BytesView payload = as_bytes("no such id");
  EXPECT_EQ(to_hex(one_frame(header_for(payload, flag::sync | flag::error, 13, 0, 5), payload)),
            "a5a5110000000d00000000000500000a6e6f2073756368206964");
}

TEST(Frame, writes_nothing_behind_its_payload) {
  Bytes to(frame_header_size + 3, std::byte{0xEE});
  const Bytes payload = from_hex("0102");
  encode_frame(header_for(payload), payload, to.data());
  EXPECT_EQ(to_hex(to), "a5a500000000000000000000000000020102ee");
}

TEST(Frame, is_decoded_to_what_was_encoded) {
  const Bytes stream = sample_frame();
  std::array<Frame, 2> out;
  const DecodeResult result = decode(stream, out);
  ASSERT_EQ(result.frames, 1U);
  EXPECT_EQ(result.consumed, sample_size);
  EXPECT_EQ(result.needed, 0U);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(out[0].header, (FrameHeader{0x01, 0x11121314, 0x2122, 0x31323334, 4}));
  EXPECT_EQ(to_hex(out[0].payload), "aabbccdd");
}

TEST(Frame, may_have_an_empty_payload) {
  const Bytes stream = one_frame({0x01, 11, 0, 5, 0}, {});
  std::array<Frame, 2> out;
  const DecodeResult result = decode(stream, out);
  ASSERT_EQ(result.frames, 1U);
  EXPECT_EQ(result.consumed, frame_header_size);
  EXPECT_TRUE(out[0].payload.empty());
}

TEST(Frame, may_carry_the_longest_payload_the_length_field_can_tell) {
  const Bytes payload(16'777'215, std::byte{0x5C});
  const Bytes stream = one_frame(header_for(payload), payload);
  std::array<Frame, 1> out;
  const DecodeResult result = decode(stream, out);
  ASSERT_EQ(result.frames, 1U);
  EXPECT_EQ(out[0].header.length, 16'777'215U);
  EXPECT_TRUE(std::ranges::equal(out[0].payload, payload));
}

TEST(Frame, may_carry_the_sync_word_in_its_payload) {
  const Bytes payload = from_hex("a5a5 01 a5a5a5 a5a5");
  const Bytes stream = concat(one_frame(header_for(payload), payload), sample_frame());
  std::array<Frame, 3> out;
  const DecodeResult result = decode(stream, out);
  ASSERT_EQ(result.frames, 2U);
  EXPECT_EQ(Bytes(out[0].payload.begin(), out[0].payload.end()), payload);
  EXPECT_EQ(to_hex(out[1].payload), "aabbccdd");
}

TEST(FrameLimit, lets_a_payload_of_exactly_the_limit_pass) {
  const Bytes payload(100);
  const Bytes stream = one_frame(header_for(payload), payload);
  std::array<Frame, 1> out;
  const DecodeResult result = decode_frames(stream, out, 100);
  EXPECT_EQ(result.frames, 1U);
  EXPECT_FALSE(result.error);
}

TEST(FrameLimit, refuses_one_byte_more_as_soon_as_the_header_is_known) {
  FrameHeader header = sample_header;
  header.length = 101;
  const Bytes stream = header_bytes(header);
  std::array<Frame, 1> out;
  EXPECT_FALSE(decode_frames(BytesView(stream).first(15), out, 100).error);
  const DecodeResult result = decode_frames(stream, out, 100);
  EXPECT_EQ(result.error, Errc::message_limit_exceeded);
  EXPECT_EQ(result.frames, 0U);
  EXPECT_EQ(result.consumed, 0U);
  EXPECT_EQ(result.needed, 0U);
}

TEST(FrameLimit, of_zero_still_allows_empty_payloads) {
  const Bytes stream = one_frame({}, {});
  std::array<Frame, 1> out;
  EXPECT_EQ(decode_frames(stream, out, 0).frames, 1U);
}

TEST(FrameLimit, delivers_the_frames_in_front_of_the_one_that_is_too_large) {
  const Bytes payload(101);
  const Bytes stream = concat(sample_frame(), one_frame(header_for(payload), payload));
  std::array<Frame, 4> out;
  const DecodeResult result = decode_frames(stream, out, 100);
  EXPECT_EQ(result.frames, 1U);
  EXPECT_EQ(result.consumed, sample_size);
  EXPECT_EQ(result.error, Errc::message_limit_exceeded);
}

TEST(FrameDecoder, finds_nothing_in_an_empty_buffer) {
  std::array<Frame, 1> out;
  const DecodeResult result = decode({}, out);
  EXPECT_EQ(result.frames, 0U);
  EXPECT_EQ(result.consumed, 0U);
  EXPECT_EQ(result.needed, 0U);
  EXPECT_FALSE(result.error);
}

TEST(FrameDecoder, leaves_many_payloads_in_place_in_order) {
  Bytes stream;
  std::vector<std::size_t> offsets;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const Bytes payload(i, static_cast<std::byte>(i));
    offsets.push_back(stream.size() + frame_header_size);
    append_frame(stream, header_for(payload, 0, i), payload);
  }
  std::array<Frame, 128> out;
  const DecodeResult result = decode(stream, out);
  ASSERT_EQ(result.frames, 100U);
  EXPECT_EQ(result.consumed, stream.size());
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(out[i].header.event, i);
    EXPECT_EQ(out[i].payload.data(), stream.data() + offsets[i]);
    EXPECT_EQ(out[i].payload.size(), i);
  }
}

TEST(FrameDecoder, takes_a_frame_cut_at_any_byte_as_incomplete) {
  const Bytes stream = concat(sample_frame(), sample_frame());
  for (std::size_t cut = 0; cut < stream.size(); ++cut) {
    std::array<Frame, 4> out;
    const DecodeResult result = decode(BytesView(stream).first(cut), out);
    EXPECT_EQ(result.frames, cut / sample_size) << "cut at " << cut;
    EXPECT_EQ(result.consumed, cut / sample_size * sample_size) << "cut at " << cut;
    EXPECT_FALSE(result.error) << "cut at " << cut;
  }
}

TEST(FrameDecoder, tells_the_size_of_an_incomplete_frame_once_its_header_is_there) {
  const Bytes stream = concat(sample_frame(), sample_frame());
  for (std::size_t cut = 0; cut < stream.size(); ++cut) {
    std::array<Frame, 4> out;
    const DecodeResult result = decode(BytesView(stream).first(cut), out);
    const bool header_known = cut % sample_size >= frame_header_size;
    EXPECT_EQ(result.needed, header_known ? sample_size : 0U) << "cut at " << cut;
  }
}

TEST(FrameDecoder, recognises_a_wrong_first_byte_at_once) {
  for (unsigned value = 0; value < 256; ++value) {
    const std::array in{static_cast<std::byte>(value)};
    std::array<Frame, 1> out;
    const DecodeResult result = decode(in, out);
    EXPECT_EQ(result.error == Errc::protocol_violation, value != 0xA5) << value;
    EXPECT_EQ(result.consumed, 0U);
  }
}

TEST(FrameDecoder, recognises_a_wrong_second_byte_at_once) {
  for (unsigned value = 0; value < 256; ++value) {
    const std::array in{std::byte{0xA5}, static_cast<std::byte>(value)};
    std::array<Frame, 1> out;
    EXPECT_EQ(decode(in, out).error == Errc::protocol_violation, value != 0xA5) << value;
  }
}

TEST(FrameDecoder, never_searches_for_a_frame_behind_wrong_bytes) {
  const Bytes stream = concat(from_hex("00"), sample_frame());
  std::array<Frame, 4> out;
  const DecodeResult result = decode(stream, out);
  EXPECT_EQ(result.frames, 0U);
  EXPECT_EQ(result.consumed, 0U);
  EXPECT_EQ(result.error, Errc::protocol_violation);
}

TEST(FrameDecoder, delivers_the_frames_in_front_of_wrong_bytes) {
  const Bytes stream = concat(concat(sample_frame(), from_hex("ff")), sample_frame());
  std::array<Frame, 4> out;
  const DecodeResult result = decode(stream, out);
  EXPECT_EQ(result.frames, 1U);
  EXPECT_EQ(result.consumed, sample_size);
  EXPECT_EQ(result.error, Errc::protocol_violation);
}

TEST(FrameDecoder, stops_when_the_output_is_full_and_goes_on_from_there) {
  const Bytes stream = concat(concat(sample_frame(), sample_frame()), one_frame({0, 7}, {}));
  std::array<Frame, 2> out;
  const DecodeResult first = decode(stream, out);
  EXPECT_EQ(first.frames, 2U);
  EXPECT_EQ(first.consumed, 2 * sample_size);
  const DecodeResult second = decode(BytesView(stream).subspan(first.consumed), out);
  EXPECT_EQ(second.frames, 1U);
  EXPECT_EQ(out[0].header.event, 7U);
}

TEST(FrameDecoder, does_not_look_behind_the_frame_that_fills_the_output) {
  const Bytes stream = concat(sample_frame(), from_hex("00"));
  std::array<Frame, 1> out;
  const DecodeResult first = decode(stream, out);
  EXPECT_EQ(first.frames, 1U);
  EXPECT_FALSE(first.error);
  EXPECT_EQ(decode(BytesView(stream).subspan(first.consumed), out).error, Errc::protocol_violation);
}

TEST(FrameDecoder, does_nothing_without_room_for_a_frame) {
  const Bytes stream = sample_frame();
  const DecodeResult result = decode(stream, {});
  EXPECT_EQ(result.frames, 0U);
  EXPECT_EQ(result.consumed, 0U);
  EXPECT_FALSE(result.error);
}

TEST(FrameVisitor, sees_every_header_with_the_bytes_of_its_frame) {
  const Bytes stream = concat(sample_frame(), one_frame({0, 7}, {}));
  std::vector<std::uint32_t> events;
  Bytes seen;
  for_each_frame(stream, [&](const FrameHeader& header, BytesView frame) {
    events.push_back(header.event);
    seen.insert(seen.end(), frame.begin(), frame.end());
  });
  EXPECT_THAT(events, testing::ElementsAre(0x11121314U, 7U));
  EXPECT_EQ(seen, stream);
}

TEST(FrameVisitor, is_not_called_for_no_frames) {
  for_each_frame({}, [](const FrameHeader&, BytesView) { FAIL(); });
}

/// A message with a copy of its payload, to compare what went in with what came out.
struct Sample {
  FrameHeader header;
  Bytes payload;
  friend bool operator==(const Sample&, const Sample&) = default;
};

class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random_);
  }

  Sample next_sample() {
    Bytes payload(below(4) == 0 ? 0 : below(300));
    for (std::byte& b : payload)
      b = below(3) == 0 ? std::byte{0xA5} : static_cast<std::byte>(below(256));
    const auto header = header_for(payload,
                                   static_cast<std::uint8_t>(random_()),
                                   static_cast<std::uint32_t>(random_()),
                                   static_cast<std::uint16_t>(random_()),
                                   static_cast<std::uint32_t>(random_()));
    return {header, std::move(payload)};
  }

 private:
  std::mt19937_64 random_;
};

/// Decodes a stream that arrives in random pieces, keeping the undecoded tail between them.
std::vector<Sample> receive_in_pieces(BytesView stream, RandomStream& random) {
  std::vector<Sample> received;
  Bytes waiting;
  while (!stream.empty()) {
    const auto count = std::min<std::size_t>(stream.size(), 1 + random.below(97));
    waiting.insert(
        waiting.end(), stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(count));
    stream = stream.subspan(count);
    std::array<Frame, 3> out;
    DecodeResult result;
    do {
      result = decode(waiting, out);
      EXPECT_FALSE(result.error);
      for (const Frame& frame : std::span(out).first(result.frames)) {
        received.push_back({frame.header, {frame.payload.begin(), frame.payload.end()}});
      }
      waiting.erase(waiting.begin(),
                    waiting.begin() + static_cast<std::ptrdiff_t>(result.consumed));
    } while (result.frames == out.size());
  }
  EXPECT_TRUE(waiting.empty());
  return received;
}

TEST(FrameDecoder, returns_random_messages_that_arrive_in_random_pieces) {
  RandomStream random(20'261'201);
  for (int round = 0; round < 200; ++round) {
    std::vector<Sample> sent;
    Bytes stream;
    for (std::uint32_t i = random.below(20); i > 0; --i) {
      sent.push_back(random.next_sample());
      append_frame(stream, sent.back().header, sent.back().payload);
    }
    ASSERT_EQ(receive_in_pieces(stream, random), sent) << "round " << round;
  }
}

TEST(FrameDecoder, stays_inside_random_bytes) {
  RandomStream random(7);
  for (int round = 0; round < 20'000; ++round) {
    Bytes noise = from_hex("a5a5");
    for (std::uint32_t i = random.below(60); i > 0; --i) {
      noise.push_back(random.below(2) == 0 ? std::byte{0}
                                           : static_cast<std::byte>(random.below(256)));
    }
    std::array<Frame, 4> out;
    const DecodeResult result = decode(noise, out);
    ASSERT_LE(result.consumed, noise.size());
    std::size_t total = 0;
    for (const Frame& frame : std::span(out).first(result.frames)) {
      total += frame_header_size + frame.payload.size();
    }
    ASSERT_EQ(total, result.consumed);
    ASSERT_TRUE(result.needed == 0 || result.needed > noise.size() - result.consumed);
  }
}

}  // namespace
}  // namespace ntcpmsg::detail
