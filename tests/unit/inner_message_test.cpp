#include "wire/inner_message.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "hex.hpp"

namespace ntcpmsg::detail {
namespace {

using test::from_hex;
using test::to_hex;

TEST(ProcessorIdRequest, is_eight_bytes_least_significant_first) {
  EXPECT_EQ(to_hex(encode(ProcessorIdRequest{0x0102030405060708})), "0807060504030201");
}

TEST(ProcessorIdRequest, is_decoded_to_what_was_encoded) {
  const auto bytes = encode(ProcessorIdRequest{0x8000'0000'0000'000F});
  const auto request = decode_processor_id_request(bytes);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->affinity_mask, 0x8000'0000'0000'000FU);
}

TEST(ProcessorIdRequest, shorter_than_eight_bytes_is_none) {
  const Bytes bytes = from_hex("0f00000000000000");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_processor_id_request(BytesView(bytes).first(size))) << size;
  }
}

TEST(ProcessorIdRequest, may_be_followed_by_bytes_that_are_ignored) {
  const auto request = decode_processor_id_request(from_hex("0f00000000000000 ffff"));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->affinity_mask, 0x0FU);
}

TEST(ProcessorIdReply, is_the_processor_then_the_cable_id_least_significant_byte_first) {
  EXPECT_EQ(to_hex(encode(ProcessorIdReply{0x01020304, 0xABCD})), "04030201cdab");
}

TEST(ProcessorIdReply, is_decoded_to_what_was_encoded) {
  const auto reply = decode_processor_id_reply(encode(ProcessorIdReply{-2, 0xFFFE}));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->processor, -2);
  EXPECT_EQ(reply->cable_id, 0xFFFEU);
}

TEST(ProcessorIdReply, shorter_than_six_bytes_is_none) {
  const Bytes bytes = from_hex("3f0000000100");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_processor_id_reply(BytesView(bytes).first(size))) << size;
  }
}

TEST(ProcessorIdReply, may_be_followed_by_bytes_that_are_ignored) {
  const auto reply = decode_processor_id_reply(from_hex("3f0000000100 ff"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->processor, 63);
  EXPECT_EQ(reply->cable_id, 1U);
}

TEST(ChosenProcessor, is_63_for_an_empty_mask) { EXPECT_EQ(choose_processor(0), 63); }

TEST(ChosenProcessor, is_the_highest_one_of_the_mask) {
  EXPECT_EQ(choose_processor(0x0F), 3);
  EXPECT_EQ(choose_processor(0x0C), 3);
  EXPECT_EQ(choose_processor(0x05), 2);
  EXPECT_EQ(choose_processor(~std::uint64_t{0}), 63);
}

TEST(ChosenProcessor, of_a_single_one_is_that_one) {
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_EQ(choose_processor(std::uint64_t{1} << bit), bit);
  }
}

}  // namespace
}  // namespace ntcpmsg::detail
