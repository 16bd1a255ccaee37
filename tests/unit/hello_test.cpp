#include "wire/hello.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>

#include "frames.hpp"
#include "hex.hpp"
#include "wire/inner_message.hpp"

namespace ntcpmsg::detail {
namespace {

using test::from_hex;
using test::to_hex;

constexpr std::uint32_t hello_channel = 0x7FFFFFFF;

CableToken sample_token() {
  CableToken token{};
  std::ranges::copy(from_hex("000102030405060708090a0b0c0d0e0f"), token.begin());
  return token;
}

Hello full_hello() {
  Hello hello;
  hello.features = 0x8000'0005;
  hello.max_message_size = 0x0012'3456;
  hello.cable_wish = CableWish::join;
  hello.cable_id = 0xABCD;
  hello.cable_token = sample_token();
  return hello;
}

/// What `payload` says, which must be a hello.
Hello decoded(std::string_view hex) {
  const auto hello = decode_hello(from_hex(hex));
  EXPECT_TRUE(hello) << hex;
  return hello.value_or(Hello{});
}

// The next three are the examples of docs/protocol.md, "Hello".

TEST(Hello, of_a_client_that_makes_a_cable_has_the_documented_bytes) {
  Hello hello;
  hello.features = feature::all;
  hello.max_message_size = 0xFFFFFF;
  hello.cable_wish = CableWish::create;
  const Bytes payload = encode(hello);
  const auto header =
      test::header_for(payload, flag::sync | flag::inner, inner_event::hello, 0, hello_channel);
  EXPECT_EQ(to_hex(test::one_frame(header, payload)),
            "a5a5094e54484c00007fffffff000016"
            "01"
            "0001000400000007"
            "0002000400ffffff"
            "0003000101");
}

TEST(Hello, of_a_listener_that_gives_a_cable_has_the_documented_bytes) {
  Hello hello;
  hello.features = feature::all;
  hello.max_message_size = 0x100000;
  hello.cable_id = 1;
  hello.cable_token = sample_token();
  const Bytes payload = encode(hello);
  const auto header = test::header_for(payload, flag::sync, inner_event::hello, 0, hello_channel);
  EXPECT_EQ(to_hex(test::one_frame(header, payload)),
            "a5a5014e54484c00007fffffff00002b"
            "01"
            "0001000400000007"
            "0002000400100000"
            "000400020001"
            "00050010000102030405060708090a0b0c0d0e0f");
}

TEST(Hello, of_a_client_that_joins_a_cable_has_the_documented_bytes) {
  Hello hello;
  hello.features = feature::all;
  hello.max_message_size = 0xFFFFFF;
  hello.cable_wish = CableWish::join;
  hello.cable_token = sample_token();
  const Bytes payload = encode(hello);
  const auto header =
      test::header_for(payload, flag::sync | flag::inner, inner_event::hello, 0, hello_channel);
  EXPECT_EQ(to_hex(test::one_frame(header, payload)),
            "a5a5094e54484c00007fffffff00002a"
            "01"
            "0001000400000007"
            "0002000400ffffff"
            "0003000102"
            "00050010000102030405060708090a0b0c0d0e0f");
}

TEST(Hello, says_no_more_than_its_version_and_features_by_default) {
  EXPECT_EQ(to_hex(encode(Hello{})),
            "01"
            "0001000400000000");
}

TEST(Hello, has_the_documented_feature_bits) {
  EXPECT_EQ(feature::error_replies, 1U);
  EXPECT_EQ(feature::sync_push, 2U);
  EXPECT_EQ(feature::cable_tokens, 4U);
  EXPECT_EQ(feature::all, 7U);
}

TEST(Hello, with_every_entry_is_decoded_to_what_was_encoded) {
  EXPECT_EQ(decode_hello(encode(full_hello())), full_hello());
}

TEST(Hello, without_optional_entries_is_decoded_to_what_was_encoded) {
  EXPECT_EQ(decode_hello(encode(Hello{})), Hello{});
}

TEST(Hello, of_another_version_is_read_all_the_same) {
  Hello hello = full_hello();
  hello.version = 200;
  EXPECT_EQ(decode_hello(encode(hello)), hello);
}

TEST(Hello, of_every_content_stays_small) {
  EXPECT_EQ(encode(Hello{}).size(), 9U);
  EXPECT_EQ(encode(full_hello()).size(), 48U);
}

TEST(Hello, may_consist_of_the_version_alone) { EXPECT_EQ(decoded("01"), Hello{}); }

TEST(Hello, that_is_empty_is_none) { EXPECT_EQ(decode_hello({}), std::nullopt); }

TEST(Hello, may_have_its_entries_in_any_order) {
  const Hello hello = decoded("01 0004 0002 0102 0003 0001 01 0001 0004 00000003");
  EXPECT_EQ(hello.features, 3U);
  EXPECT_EQ(hello.cable_wish, CableWish::create);
  EXPECT_EQ(hello.cable_id, 0x0102U);
}

TEST(Hello, counts_the_last_of_two_entries_of_one_type) {
  EXPECT_EQ(decoded("01 0001 0004 00000001 0001 0004 00000002").features, 2U);
}

TEST(Hello, skips_unknown_entries) {
  const Hello hello = decoded(
      "01"
      " 0000 0000"
      " 0006 0003 a5a5a5"
      " 0001 0004 00000007"
      " ffff 0001 00"
      " 0004 0002 0009");
  EXPECT_EQ(hello.features, 7U);
  EXPECT_EQ(hello.cable_id, 9U);
}

TEST(Hello, ignores_known_entries_of_another_length_and_reads_on) {
  for (const char* entry : {"0001 0003 000007",
                            "0001 0005 0000000700",
                            "0001 0000",
                            "0002 0002 ffff",
                            "0002 0008 0000000000000001",
                            "0003 0000",
                            "0003 0002 0001",
                            "0004 0001 01",
                            "0004 0004 00000001",
                            "0005 000f 000102030405060708090a0b0c0d0e",
                            "0005 0011 000102030405060708090a0b0c0d0e0f10"}) {
    Hello expected;
    expected.cable_id = 5;
    EXPECT_EQ(decoded(std::string("01 ") + entry + "0004 0002 0005"), expected) << entry;
  }
}

TEST(Hello, ignores_a_cable_wish_it_does_not_know) {
  EXPECT_EQ(decoded("01 0003 0001 02").cable_wish, CableWish::join);
  EXPECT_EQ(decoded("01 0003 0001 03").cable_wish, CableWish::none);
  EXPECT_EQ(decoded("01 0003 0001 ff").cable_wish, CableWish::none);
}

TEST(Hello, cut_anywhere_inside_an_entry_is_none) {
  const Bytes payload = encode(full_hello());
  constexpr std::array<std::size_t, 6> entry_ends{1, 9, 17, 22, 28, 48};
  for (std::size_t cut = 1; cut <= payload.size(); ++cut) {
    const bool between_entries = std::ranges::find(entry_ends, cut) != entry_ends.end();
    EXPECT_EQ(decode_hello(BytesView(payload).first(cut)).has_value(), between_entries) << cut;
  }
}

TEST(Hello, whose_entry_is_longer_than_the_rest_is_none) {
  EXPECT_EQ(decode_hello(from_hex("01 0006 ffff 00")), std::nullopt);
}

TEST(Hello, of_random_bytes_is_either_none_or_can_be_encoded_again) {
  std::mt19937_64 random(42);
  int hellos = 0;
  for (int round = 0; round < 50'000; ++round) {
    Bytes payload(random() % 40);
    // Small values make types and lengths that mean something.
    for (std::byte& b : payload) b = static_cast<std::byte>(random() % 4 == 0 ? random() % 6 : 0);
    const auto hello = decode_hello(payload);
    if (!hello) continue;
    ++hellos;
    ASSERT_EQ(decode_hello(encode(*hello)), hello) << to_hex(payload);
  }
  EXPECT_GT(hellos, 1000);
}

}  // namespace
}  // namespace ntcpmsg::detail
