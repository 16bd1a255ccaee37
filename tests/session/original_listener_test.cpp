// Our clients with an original listener, played by a script.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>

#include "hex.hpp"
#include "test_server.hpp"
#include "wire/inner_message.hpp"

namespace ntcpmsg::test {
namespace {

/// What a `SingleConnection` with default options says first.
constexpr std::string_view hello =
    "a5a5 09 4e54484c 0000 7fffffff 000011 01 0001000400000007 0002000400ffffff";

std::string vector_hex(const std::string& name) {
  return to_hex(read_hex_file(std::filesystem::path(NTCPMSG_VECTORS_DIR) / (name + ".hex")));
}

ClientOptions soon_silent() {
  ClientOptions options = closing_soon();
  options.hello_timeout = 50ms;
  return options;
}

class OriginalListenerTest : public testing::Test {
 protected:
  ScriptedPeer greet(SingleConnection& client) {
    client.start();
    ScriptedPeer peer = listener.accept();
    peer.answer_hello_as_original();
    EXPECT_TRUE(wait_until([&] { return client.connected(); }));
    return peer;
  }

  ScriptedListener listener;
};

TEST_F(OriginalListenerTest, an_empty_answer_to_the_hello_means_the_plain_protocol) {
  SingleConnection client(listener.endpoint(), closing_soon());
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.expect_hex(hello);
  EXPECT_EQ(client.state(), ConnectionState::negotiating);
  peer.send_hex("a5a5 01 4e54484c 0000 7fffffff 000000");
  EXPECT_TRUE(wait_until([&] { return client.connected(); }));
}

TEST_F(OriginalListenerTest, messages_look_as_recorded) {
  SingleConnection client(listener.endpoint(), closing_soon());
  ScriptedPeer peer = greet(client);
  client.async_send(10, from_hex("00010203"));
  peer.expect_hex(vector_hex("async4.conn0.c2s"));
}

TEST_F(OriginalListenerTest, extreme_messages_look_as_recorded) {
  SingleConnection client(listener.endpoint(), closing_soon());
  ScriptedPeer peer = greet(client);
  client.async_send(0x01020304, {});
  client.async_send(0xFFFFFFFF, from_hex("ff"));
  client.async_send(0, from_hex("a5a5a5"));
  peer.expect_hex(vector_hex("edge.conn0.c2s"));
}

TEST_F(OriginalListenerTest, a_thousand_messages_look_as_recorded) {
  SingleConnection client(listener.endpoint(), closing_soon());
  ScriptedPeer peer = greet(client);
  for (unsigned i = 0; i < 1000; ++i) {
    const Bytes counter{static_cast<std::byte>(i & 0xFF), static_cast<std::byte>(i >> 8), {}, {}};
    client.async_send(10, counter);
  }
  peer.expect_hex(vector_hex("batch1000.conn0.c2s"));
}

TEST_F(OriginalListenerTest, a_large_request_looks_as_recorded) {
  SingleConnection client(listener.endpoint(), closing_soon());
  ScriptedPeer peer = greet(client);
  const Bytes payload = pattern(70'000);
  std::thread answering([&] {
    peer.expect_hex(vector_hex("large.conn0.c2s.head"));
    const Bytes bytes = peer.receive(payload.size());
    peer.send_frame({.flags = 1, .event = 11, .channel = 1}, bytes);
  });
  EXPECT_EQ(client.sync_send(11, payload), payload);
  answering.join();
}

TEST_F(OriginalListenerTest, a_reply_is_matched_by_its_channel_alone) {
  SingleConnection client(listener.endpoint(), closing_soon());
  ScriptedPeer peer = greet(client);
  std::thread answering([&] {
    const WireFrame request = peer.receive_frame();
    peer.send_frame({.flags = 1, .event = 11, .channel = request.header.channel + 5},
                    as_bytes("for nobody"));
    peer.send_frame({.flags = 0x11, .event = 777, .cable_id = 9, .channel = request.header.channel},
                    as_bytes("the one"));
  });
  EXPECT_EQ(as_text(client.sync_send(11, {})), "the one");
  answering.join();
}

TEST_F(OriginalListenerTest, pushes_reach_the_handler_and_inner_messages_do_not) {
  ClientLog log;
  SingleConnection client(listener.endpoint(), closing_soon());
  log.watch(client);
  ScriptedPeer peer = greet(client);
  peer.send_hex("a5a5 08 00000032 0000 80000001 000000");
  peer.send_hex("a5a5 f0 00000033 0000 80000002 000000");
  EXPECT_EQ(log.received.at(0).event, 0x33U);
}

TEST_F(OriginalListenerTest, a_hello_lost_with_the_first_frames_is_repeated) {
  SingleConnection client(listener.endpoint(), soon_silent());
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.expect_hex(hello);
  peer.expect_hex(hello);
  EXPECT_EQ(client.state(), ConnectionState::negotiating);
  peer.send_hex("a5a5 01 4e54484c 0000 7fffffff 000000");
  EXPECT_TRUE(wait_until([&] { return client.connected(); }));
}

TEST_F(OriginalListenerTest, one_that_never_answers_the_hello_gets_the_plain_protocol) {
  SingleConnection client(listener.endpoint(), soon_silent());
  const Stopwatch watch;
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.expect_hex(hello);
  peer.expect_hex(hello);
  EXPECT_TRUE(wait_until([&] { return client.connected(); }));
  EXPECT_GE(watch.elapsed(), 100ms);
  client.async_send(10, as_bytes("x"));
  peer.expect_hex("a5a5 00 0000000a 0000 00000001 000001 78");
}

TEST_F(OriginalListenerTest, an_answer_to_the_hello_that_comes_too_late_is_dropped) {
  ClientLog log;
  SingleConnection client(listener.endpoint(), soon_silent());
  log.watch(client);
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.expect_hex(hello);
  peer.expect_hex(hello);
  ASSERT_TRUE(log.connected.wait_for(1));
  peer.send_hex("a5a5 01 4e54484c 0000 7fffffff 000009 01 0001000400000007");
  peer.send_frame({.event = 3}, as_bytes("a push"));
  EXPECT_EQ(log.received.at(0).text, "a push");
  EXPECT_TRUE(client.connected());
}

TEST_F(OriginalListenerTest, a_push_in_front_of_the_answer_to_the_hello_is_delivered) {
  ClientLog log;
  SingleConnection client(listener.endpoint(), closing_soon());
  log.watch(client);
  client.start();
  ScriptedPeer peer = listener.accept();
  peer.send_frame({.event = 3}, as_bytes("early"));
  peer.answer_hello_as_original();
  EXPECT_EQ(log.received.at(0).text, "early");
}

TEST_F(OriginalListenerTest, is_not_asked_when_the_hello_is_switched_off) {
  ClientOptions options = closing_soon();
  options.hello = false;
  SingleConnection client(listener.endpoint(), options);
  client.connect();
  ScriptedPeer peer = listener.accept();
  client.async_send(10, as_bytes("x"));
  peer.expect_hex("a5a5 00 0000000a 0000 00000001 000001 78");
}

class CableWithOriginalListenerTest : public testing::Test {
 protected:
  /// The first connection of the cable, asked for by the hello and the original's handshake.
  ScriptedPeer found() {
    client.start();
    ScriptedPeer peer = listener.accept();
    peer.answer_hello_as_original();
    const WireFrame request = peer.receive_frame();
    EXPECT_EQ(request.header.flags, 0x09);
    EXPECT_EQ(request.header.event, detail::inner_event::processor_id);
    EXPECT_EQ(request.header.cable_id, 0);
    EXPECT_EQ(request.payload.size(), 8U);
    EXPECT_EQ(client.state(), ConnectionState::negotiating);
    peer.send_frame({.flags = 1, .event = 1, .channel = request.header.channel},
                    from_hex("3f0000000700"));
    return peer;
  }

  ScriptedListener listener;
  SingleConnectionCable client{listener.endpoint(), 3, closing_soon()};
};

TEST_F(CableWithOriginalListenerTest, its_first_connection_asks_for_the_id) {
  const ScriptedPeer first = found();
  EXPECT_TRUE(wait_until([&] { return client.connected(); }));
  EXPECT_EQ(client.cable_id(), 7);
}

TEST_F(CableWithOriginalListenerTest, the_other_connections_ask_nothing_and_carry_the_id) {
  const ScriptedPeer first = found();
  ScriptedPeer second = listener.accept();
  ScriptedPeer third = listener.accept();
  ASSERT_TRUE(wait_until([&] { return client.connections() == 3; }));
  EXPECT_TRUE(second.silent_for(20ms));
  std::size_t seen = 0;
  for (std::uint64_t key = 0; key < 300; ++key) client.async_send(10, {}, OrderKey{key});
  client.flush();
  for (ScriptedPeer* peer : {&second, &third}) {
    while (!peer->silent_for(20ms)) {
      EXPECT_EQ(peer->receive_frame().header.cable_id, 7);
      ++seen;
    }
  }
  EXPECT_GT(seen, 100U);
}

TEST_F(CableWithOriginalListenerTest, another_connection_asks_again_when_the_first_is_lost) {
  ScriptedPeer first = found();
  ScriptedPeer others[] = {listener.accept(), listener.accept()};
  ASSERT_TRUE(wait_until([&] { return client.connections() == 3; }));
  first.reset();
  ScriptedPeer& asked = others[others[0].silent_for(100ms) ? 1 : 0];
  const WireFrame request = asked.receive_frame();
  EXPECT_EQ(request.header.event, detail::inner_event::processor_id);
  asked.send_frame({.flags = 1, .event = 1, .channel = request.header.channel},
                   from_hex("3f0000000900"));
  EXPECT_TRUE(wait_until([&] { return client.cable_id() == 9; }));
  EXPECT_TRUE(client.connected());
}

}  // namespace
}  // namespace ntcpmsg::test
