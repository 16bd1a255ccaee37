// Bytes that the original library wrote or was sent; tests/vectors/README.md says how they came
// about.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/byte_order.hpp"
#include "frames.hpp"
#include "hex.hpp"
#include "wire/frame.hpp"
#include "wire/inner_message.hpp"

namespace ntcpmsg::detail {
namespace {

using test::decode_whole;
using test::to_hex;
using testing::ElementsAre;

/// A message in a form that is easy to write down and to compare.
struct Seen {
  unsigned flags;
  std::uint32_t event;
  unsigned cable_id;
  std::uint32_t channel;
  std::string payload_hex;

  friend bool operator==(const Seen&, const Seen&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Seen& seen) {
    return out << std::hex << "{flags " << seen.flags << " event " << seen.event << " cable "
               << seen.cable_id << " channel " << seen.channel << " payload " << seen.payload_hex
               << "}" << std::dec;
  }
};

/// `name` without ".hex".
Bytes vector_bytes(const std::string& name) {
  return test::read_hex_file(std::filesystem::path(NTCPMSG_VECTORS_DIR) / (name + ".hex"));
}

std::vector<Seen> messages_of(const std::string& name) {
  std::vector<Seen> messages;
  const Bytes stream = vector_bytes(name);
  for (const Frame& frame : decode_whole(stream)) {
    EXPECT_EQ(frame.header.length, frame.payload.size());
    messages.push_back({frame.header.flags,
                        frame.header.event,
                        frame.header.cable_id,
                        frame.header.channel,
                        to_hex(frame.payload)});
  }
  return messages;
}

std::string little_endian_hex(std::uint32_t value) {
  std::array<std::byte, 4> bytes{};
  store_little(bytes.data(), value);
  return to_hex(bytes);
}

std::string text_hex(std::string_view text) { return to_hex(as_bytes(text)); }

std::set<std::string> all_vectors() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(NTCPMSG_VECTORS_DIR)) {
    if (entry.path().extension() == ".hex") names.insert(entry.path().stem().string());
  }
  return names;
}

/// The streams that are not a whole number of frames, and what decoding them once comes to.
struct Outcome {
  std::size_t frames;
  std::size_t consumed;
  std::size_t needed;
  error_code error;
};

const std::map<std::string, Outcome>& broken_vectors() {
  static const std::map<std::string, Outcome> broken{
      // Headers only, of a payload of 70,000 bytes.
      {"large.conn0.c2s.head", {0, 0, 70'016, {}}},
      {"large.conn0.s2c.head", {0, 0, 70'016, {}}},
      // Junk instead of a frame; two good frames in front of it in the first one.
      {"raw_client_push_flags.conn0.s2c", {2, 39, 0, Errc::protocol_violation}},
      {"raw_garbage_before.conn0.c2s", {0, 0, 0, Errc::protocol_violation}},
      {"raw_lone_a5.conn0.c2s", {0, 0, 0, Errc::protocol_violation}},
      // A third A5 is the flags of a frame whose length field reads 0x630000.
      {"raw_three_a5.conn0.c2s", {0, 0, 16 + 0x630000, {}}},
  };
  return broken;
}

TEST(Vectors, are_all_there) { EXPECT_EQ(all_vectors().size(), 79U); }

TEST(Vectors, that_are_whole_frames_come_out_the_same_when_encoded_again) {
  for (const std::string& name : all_vectors()) {
    if (broken_vectors().contains(name)) continue;
    SCOPED_TRACE(name);
    const Bytes stream = vector_bytes(name);
    std::vector<Frame> frames;
    ASSERT_NO_THROW(frames = decode_whole(stream));
    ASSERT_FALSE(frames.empty());
    Bytes again;
    for (const Frame& frame : frames) test::append_frame(again, frame.header, frame.payload);
    EXPECT_EQ(to_hex(again), to_hex(stream));
  }
}

TEST(Vectors, that_are_no_whole_frames_stop_the_decoder_at_the_exact_byte) {
  for (const auto& [name, expected] : broken_vectors()) {
    SCOPED_TRACE(name);
    const Bytes stream = vector_bytes(name);
    std::array<Frame, 8> out;
    const DecodeResult result = decode_frames(stream, out, max_payload_size);
    EXPECT_EQ(result.frames, expected.frames);
    EXPECT_EQ(result.consumed, expected.consumed);
    EXPECT_EQ(result.needed, expected.needed);
    EXPECT_EQ(result.error, expected.error);
  }
}

TEST(Vectors, with_a_third_a5_exceed_a_limit_of_a_megabyte) {
  const Bytes stream = vector_bytes("raw_three_a5.conn0.c2s");
  std::array<Frame, 1> out;
  EXPECT_EQ(decode_frames(stream, out, 1'000'000).error, Errc::message_limit_exceeded);
}

TEST(OriginalClient, sends_a_message_with_channel_one_first) {
  EXPECT_THAT(messages_of("async4.conn0.c2s"), ElementsAre(Seen{0, 10, 0, 1, "00010203"}));
}

TEST(OriginalClient, sends_extreme_events_and_payloads_unchanged) {
  EXPECT_THAT(messages_of("edge.conn0.c2s"),
              ElementsAre(Seen{0, 0x01020304, 0, 1, ""},
                          Seen{0, 0xFFFFFFFF, 0, 2, "ff"},
                          Seen{0, 0, 0, 3, "a5a5a5"}));
}

TEST(OriginalClient, counts_requests_and_messages_with_one_counter) {
  EXPECT_THAT(messages_of("sync.conn0.c2s"),
              ElementsAre(Seen{flag::sync, 11, 0, 1, "00010203"},
                          Seen{flag::sync, 12, 0, 2, "00010203"},
                          Seen{flag::sync, 11, 0, 3, ""},
                          Seen{0, 10, 0, 4, "00010203"},
                          Seen{flag::sync, 11, 0, 5, "09"}));
}

TEST(OriginalClient, wraps_its_channel_from_7fffffff_to_zero) {
  EXPECT_THAT(messages_of("channel_wrap.conn0.c2s"),
              ElementsAre(Seen{0, 10, 0, 0x7FFFFFFE, "00"},
                          Seen{0, 10, 0, 0x7FFFFFFF, "01"},
                          Seen{0, 10, 0, 0, "02"},
                          Seen{0, 10, 0, 1, "03"},
                          Seen{0, 10, 0, 2, "04"},
                          Seen{0, 34, 0, 3, ""}));
}

TEST(OriginalClient, sends_a_burst_in_order) {
  const auto messages = messages_of("batch1000.conn0.c2s");
  ASSERT_EQ(messages.size(), 1000U);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(messages[i], (Seen{0, 10, 0, i + 1, little_endian_hex(i)}));
  }
}

TEST(OriginalClient, answers_a_request_of_the_server_on_a_channel_of_its_own) {
  EXPECT_THAT(messages_of("raw_client_server_sync.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 99, 0x0102, 0x80000010, text_hex("ask")},
                          Seen{flag::sync, 98, 0, 0x80000011, text_hex("ask2")}));
  EXPECT_THAT(messages_of("raw_client_server_sync.conn0.c2s"),
              ElementsAre(Seen{flag::sync, 99, 0x0102, 1, "010203"}));
}

TEST(OriginalListener, echoes_event_cable_and_channel_in_a_reply) {
  EXPECT_THAT(messages_of("sync.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 11, 0, 1, "00010203"},
                          Seen{flag::sync, 12, 0, 2, ""},
                          Seen{flag::sync, 11, 0, 3, ""},
                          Seen{flag::sync, 11, 0, 5, "09"}));
}

TEST(OriginalListener, counts_its_pushes_from_80000000) {
  EXPECT_THAT(messages_of("push.conn0.s2c"),
              ElementsAre(Seen{0, 3, 0, 0x80000000, text_hex("I am from server!")},
                          Seen{0, 4, 0x1234, 0x80000001, "deadbeef"}));
}

TEST(OriginalListener, pushes_a_burst_in_order) {
  const auto messages = messages_of("push_batch.conn0.s2c");
  ASSERT_EQ(messages.size(), 300U);
  for (std::uint32_t i = 0; i < 300; ++i) {
    EXPECT_EQ(messages[i], (Seen{0, 6, 0, 0x80000000 + i, little_endian_hex(i)}));
  }
}

// Ours goes from FFFFFFFF to 80000000: 7FFFFFFF is a client's number.
TEST(OriginalListener, wraps_its_channel_over_one_number_of_the_client) {
  EXPECT_THAT(messages_of("channel_wrap.conn0.s2c"),
              ElementsAre(Seen{0, 7, 0, 0xFFFFFFFF, "00"},
                          Seen{0, 7, 0, 0x7FFFFFFF, "01"},
                          Seen{0, 7, 0, 0x80000000, "02"},
                          Seen{0, 7, 0, 0x80000001, "03"}));
}

TEST(OriginalListener, ignores_flag_bits_it_does_not_know_and_answers_without_them) {
  EXPECT_THAT(messages_of("raw_flag_unknown_bits.conn0.c2s"),
              ElementsAre(Seen{0xF1, 11, 0x55AA, 8, text_hex("flags")},
                          Seen{flag::sync, 11, 0, 99, text_hex("ok")}));
  EXPECT_THAT(messages_of("raw_flag_unknown_bits.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 11, 0x55AA, 8, text_hex("flags")},
                          Seen{flag::sync, 11, 0, 99, text_hex("ok")}));
}

TEST(OriginalListener, ignores_the_encryption_flags) {
  constexpr unsigned flags = flag::sync | flag::encrypt_to_server | flag::encrypt_to_client;
  EXPECT_THAT(messages_of("raw_flag_encrypt.conn0.c2s"),
              ElementsAre(Seen{flags, 11, 0x55AA, 9, text_hex("enc")}));
  EXPECT_THAT(messages_of("raw_flag_encrypt.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 11, 0x55AA, 9, text_hex("enc")}));
}

TEST(OriginalListener, answers_an_unknown_inner_request_with_an_empty_reply) {
  EXPECT_THAT(messages_of("raw_inner_unknown.conn0.c2s"),
              ElementsAre(Seen{flag::sync | flag::inner, 0x4E54, 0, 7, text_hex("hello")}));
  EXPECT_THAT(messages_of("raw_inner_unknown.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 0x4E54, 0, 7, ""}));
}

TEST(OriginalListener, swallows_an_unknown_inner_message_without_sync) {
  EXPECT_THAT(messages_of("raw_inner_unknown_async.conn0.c2s"),
              ElementsAre(Seen{flag::inner, 0x4E54, 0, 7, text_hex("hello")},
                          Seen{flag::sync, 11, 0, 99, text_hex("ok")}));
  EXPECT_THAT(messages_of("raw_inner_unknown_async.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 11, 0, 99, text_hex("ok")}));
}

TEST(OriginalCable, of_capacity_one_puts_its_id_into_every_frame_behind_the_handshake) {
  EXPECT_THAT(messages_of("cable1.conn0.c2s"),
              ElementsAre(Seen{flag::sync | flag::inner, 1, 0, 1, "0000000000000000"},
                          Seen{0, 10, 1, 2, "00010203"},
                          Seen{flag::sync, 11, 1, 3, "00010203"},
                          Seen{0, 32, 1, 4, ""}));
  EXPECT_THAT(messages_of("cable1.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 1, 0, 1, "3f0000000100"},
                          Seen{flag::sync, 11, 1, 3, "00010203"},
                          Seen{0, 5, 1, 0x80000000, text_hex("Hi cable 1!")}));
}

TEST(OriginalCable, of_capacity_three_makes_requests_over_its_first_connection) {
  EXPECT_THAT(messages_of("cable3.conn0.c2s"),
              ElementsAre(Seen{flag::sync | flag::inner, 1, 0, 1, "0000000000000000"},
                          Seen{flag::sync, 11, 1, 2, "00010203"}));
}

TEST(OriginalCable, of_capacity_three_gets_replies_and_pushes_over_its_first_connection) {
  EXPECT_THAT(messages_of("cable3.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 1, 0, 1, "3f0000000100"},
                          Seen{flag::sync, 11, 1, 2, "00010203"},
                          Seen{0, 5, 1, 0x80000000, text_hex("Hi cable 1!")}));
}

/// Expects `count` messages of event 10 from `first` on with the values `value`, `value` + 1 ...
void expect_run(const std::vector<Seen>& messages,
                std::size_t first,
                std::size_t count,
                std::uint32_t value) {
  ASSERT_LE(first + count, messages.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto channel = static_cast<std::uint32_t>(first + i + 1);
    EXPECT_EQ(messages[first + i],
              (Seen{0, 10, 1, channel, little_endian_hex(value + static_cast<std::uint32_t>(i))}));
  }
}

TEST(OriginalCable, spreads_messages_over_its_other_connections_a_hundred_at_a_time) {
  const auto first = messages_of("cable3.conn1.c2s");
  const auto second = messages_of("cable3.conn2.c2s");
  ASSERT_EQ(first.size(), 151U);
  ASSERT_EQ(second.size(), 100U);
  expect_run(first, 0, 100, 0);
  expect_run(second, 0, 100, 100);
  expect_run(first, 100, 50, 200);
  EXPECT_EQ(first.back(), (Seen{0, 32, 1, 151, ""}));
}

/// The affinity masks of the requests for a cable id in a stream.
std::vector<std::uint64_t> masks_of(const std::string& name) {
  std::vector<std::uint64_t> masks;
  const Bytes stream = vector_bytes(name);
  for (const Frame& frame : decode_whole(stream)) {
    if ((frame.header.flags & flag::inner) == 0) continue;
    EXPECT_EQ(frame.header.event, inner_event::processor_id);
    const auto request = decode_processor_id_request(frame.payload);
    EXPECT_TRUE(request);
    if (request) masks.push_back(request->affinity_mask);
  }
  return masks;
}

/// The replies a listener of ours writes to the first `ids.size()` requests of a stream, when it
/// gives these cable ids.
std::string our_replies(const std::string& name, const std::vector<std::uint16_t>& ids) {
  Bytes replies;
  const Bytes stream = vector_bytes(name);
  const auto requests = decode_whole(stream);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const FrameHeader& asked = requests.at(i).header;
    Bytes payload;
    if (const auto request = decode_processor_id_request(requests[i].payload)) {
      const auto reply = encode(ProcessorIdReply{choose_processor(request->affinity_mask), ids[i]});
      payload.assign(reply.begin(), reply.end());
    }
    const auto header =
        test::header_for(payload, flag::sync, asked.event, asked.cable_id, asked.channel);
    test::append_frame(replies, header, payload);
  }
  return to_hex(replies);
}

std::string recorded(const std::string& name) { return to_hex(vector_bytes(name)); }

TEST(CableHandshake, reads_the_masks_of_the_recorded_requests) {
  EXPECT_THAT(masks_of("cable1.conn0.c2s"), ElementsAre(0U));
  EXPECT_THAT(masks_of("cable3.conn0.c2s"), ElementsAre(0U));
  EXPECT_THAT(masks_of("raw_getprocid_mask0f.conn0.c2s"), ElementsAre(0x0FU, 0x0FU, 0x0CU));
  EXPECT_THAT(masks_of("raw_getprocid_again.conn0.c2s"), ElementsAre(0x03U));
  EXPECT_THAT(masks_of("raw_getprocid_async.conn0.c2s"), ElementsAre(0x0FU));
}

TEST(CableHandshake, ignores_what_follows_the_mask) {
  EXPECT_THAT(masks_of("raw_event32_inner_getproc_big.conn0.c2s"),
              ElementsAre(std::uint64_t{1} << 63));
}

TEST(CableHandshake, answers_an_empty_mask_as_the_original_does) {
  EXPECT_EQ(our_replies("cable1.conn0.c2s", {1}), recorded("cable1.conn0.s2c").substr(0, 44));
  EXPECT_EQ(our_replies("cable3.conn0.c2s", {1}), recorded("cable3.conn0.s2c").substr(0, 44));
}

TEST(CableHandshake, answers_as_the_original_where_the_least_used_processor_is_the_highest) {
  EXPECT_EQ(our_replies("raw_getprocid_again.conn0.c2s", {3}),
            recorded("raw_getprocid_again.conn0.s2c"));
  EXPECT_EQ(our_replies("raw_event32_inner_getproc_big.conn0.c2s", {3}),
            recorded("raw_event32_inner_getproc_big.conn0.s2c"));
}

TEST(CableHandshake, answers_a_request_that_is_too_short_with_an_empty_reply) {
  EXPECT_EQ(our_replies("raw_getprocid_short.conn0.c2s", {1}),
            recorded("raw_getprocid_short.conn0.s2c"));
}

TEST(CableHandshake, of_the_original_without_sync_gets_no_reply) {
  EXPECT_THAT(messages_of("raw_getprocid_async.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 11, 0, 99, text_hex("ok")}));
}

TEST(CableHandshake, of_the_original_balances_processors_and_gives_a_new_id_at_each_request) {
  EXPECT_THAT(messages_of("raw_getprocid_mask0f.conn0.s2c"),
              ElementsAre(Seen{flag::sync, 1, 0, 1, "030000000100"},
                          Seen{flag::sync, 1, 0, 2, "020000000200"},
                          Seen{flag::sync, 1, 0, 3, "030000000300"}));
}

// On purpose: balancing the processors of clients is none of a listener's business, and an id that
// the same connection asks for again must not leak the first.
TEST(CableHandshake, of_ours_names_the_highest_processor_and_the_same_id_each_time) {
  EXPECT_EQ(our_replies("raw_getprocid_mask0f.conn0.c2s", {1, 1, 1}),
            "a5a50100000001000000000001000006030000000100"
            "a5a50100000001000000000002000006030000000100"
            "a5a50100000001000000000003000006030000000100");
}

}  // namespace
}  // namespace ntcpmsg::detail
