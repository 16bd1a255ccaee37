// Our listener with an original client, played from the recorded bytes.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "hex.hpp"
#include "test_server.hpp"
#include "wire/inner_message.hpp"

namespace ntcpmsg::test {
namespace {

Bytes vector_bytes(const std::string& name) {
  return read_hex_file(std::filesystem::path(NTCPMSG_VECTORS_DIR) / (name + ".hex"));
}

/// The original's request for a cable id.
void ask_for_cable(ScriptedPeer& peer) {
  peer.send_hex("a5a5 09 00000001 0000 00000001 000008 0f00000000000000");
}

class RecordedClientTest : public testing::TestWithParam<const char*> {};

TEST_P(RecordedClientTest, is_answered_byte_for_byte_as_the_original_listener_did) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  peer.send(vector_bytes(GetParam() + std::string(".conn0.c2s")));
  const Bytes expected = vector_bytes(GetParam() + std::string(".conn0.s2c"));
  EXPECT_EQ(to_hex(peer.receive(expected.size())), to_hex(expected));
  // Nothing but that.
  peer.half_close();
  peer.expect_end();
}

INSTANTIATE_TEST_SUITE_P(Vectors,
                         RecordedClientTest,
                         testing::Values("sync",
                                         "raw_getprocid_short",
                                         "raw_getprocid_async",
                                         "raw_inner_unknown",
                                         "raw_inner_unknown_async",
                                         "raw_flag_unknown_bits",
                                         "raw_flag_encrypt",
                                         "raw_channel_server_range",
                                         "raw_split_bytes",
                                         "raw_zero_len_then",
                                         "raw_zero_len_split",
                                         "raw_two_pipelined"),
                         [](const testing::TestParamInfo<const char*>& vector) {
                           return std::string(vector.param);
                         });

TEST(OriginalClientTest, byte_by_byte_is_understood) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  const Bytes request = vector_bytes("raw_split_bytes.conn0.c2s");
  for (const std::byte& byte : request) peer.send(BytesView(&byte, 1));
  peer.expect_hex(to_hex(vector_bytes("raw_split_bytes.conn0.s2c")));
}

TEST(OriginalClientTest, messages_reach_the_handler) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  peer.send(vector_bytes("batch1000.conn0.c2s"));
  EXPECT_TRUE(server.received.wait_for(1000));
}

TEST(OriginalCableTest, gets_the_id_and_processor_that_an_original_listener_gives) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  ask_for_cable(peer);
  peer.expect_hex("a5a5 01 00000001 0000 00000001 000006 03000000 0100");
  EXPECT_EQ(server.listener.cable_ids(), std::vector<std::uint16_t>{1});
  EXPECT_EQ(server.listener.statistics().cables, 1U);
}

TEST(OriginalCableTest, keeps_its_id_when_it_asks_again) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  for (int i = 0; i < 3; ++i) {
    ask_for_cable(peer);
    peer.expect_hex("a5a5 01 00000001 0000 00000001 000006 03000000 0100");
  }
}

TEST(OriginalCableTest, of_one_connection_is_served_as_recorded) {
  TestServer server;
  server.listener.on_received([&](Message& message) {
    if (message.event() == event::echo) message.reply(message.payload());
    if (message.event() == 32) server.listener.push(message.cable_id(), 5, as_bytes("Hi cable 1!"));
  });
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  peer.send(vector_bytes("cable1.conn0.c2s"));
  const std::string expected = to_hex(vector_bytes("cable1.conn0.s2c"));
  std::string seen = to_hex(peer.receive(expected.size() / 2));
  // The number in the channel of the push, its last but one field, means nothing.
  const std::size_t push_channel = expected.size() - 2 * (11 + 3 + 4);
  seen.replace(push_channel, 8, expected, push_channel, 8);
  EXPECT_EQ(seen, expected);
}

TEST(OriginalCableTest, is_reached_by_pushes_over_its_first_connection) {
  TestServer server;
  ScriptedPeer first = ScriptedPeer::connected_to(server.endpoint);
  ask_for_cable(first);
  first.receive_frame();
  ScriptedPeer second = ScriptedPeer::connected_to(server.endpoint);
  second.send_frame({.event = event::note, .cable_id = 1, .channel = 1}, as_bytes("over second"));
  EXPECT_EQ(server.received.at(0).cable_id, 1U);
  server.listener.push(std::uint16_t{1}, 5, as_bytes("for the cable"));
  EXPECT_EQ(first.receive_frame().text(), "for the cable");
  EXPECT_TRUE(second.silent_for(20ms));
}

TEST(OriginalCableTest, gets_a_broadcast_once) {
  TestServer server;
  ScriptedPeer first = ScriptedPeer::connected_to(server.endpoint);
  ask_for_cable(first);
  first.receive_frame();
  ScriptedPeer second = ScriptedPeer::connected_to(server.endpoint);
  second.send_frame({.event = event::note, .cable_id = 1});
  ASSERT_TRUE(server.received.wait_for(1));
  EXPECT_EQ(server.listener.broadcast(6, as_bytes("all")), 1U);
  EXPECT_EQ(first.receive_frame().text(), "all");
}

TEST(OriginalCableTest, replies_come_over_the_connection_that_asked) {
  TestServer server;
  ScriptedPeer first = ScriptedPeer::connected_to(server.endpoint);
  ask_for_cable(first);
  first.receive_frame();
  ScriptedPeer second = ScriptedPeer::connected_to(server.endpoint);
  second.send_hex("a5a5 01 0000000b 0001 00000004 000001 78");
  second.expect_hex("a5a5 01 0000000b 0001 00000004 000001 78");
}

TEST(OriginalCableTest, ends_with_its_first_connection) {
  TestServer server;
  ScriptedPeer first = ScriptedPeer::connected_to(server.endpoint);
  ask_for_cable(first);
  first.receive_frame();
  first.close();
  EXPECT_EQ(server.disconnected.at(0).cable_id, 1U);
  EXPECT_TRUE(server.listener.cable_ids().empty());
  error_code ec;
  server.listener.push(std::uint16_t{1}, 5, {}, ec);
  EXPECT_EQ(ec, Errc::unknown_peer);
}

TEST(OriginalModeTest, a_listener_without_hello_answers_it_as_an_original_one) {
  ListenerOptions options;
  options.hello = false;
  TestServer server(options);
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  peer.send_hex("a5a5 09 4e54484c 0000 7fffffff 000001 01");
  peer.expect_hex("a5a5 01 4e54484c 0000 7fffffff 000000");
}

}  // namespace
}  // namespace ntcpmsg::test
