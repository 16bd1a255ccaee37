// Clients that break the rules, or would like to have all of the server to themselves.

#include <gtest/gtest.h>

#include <vector>

#include "frames.hpp"
#include "process_usage.hpp"
#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

constexpr std::size_t megabyte = 1024 * 1024;

/// Fails the test unless a new client is served soon.
void expect_service(const TestServer& server) {
  const Stopwatch watch;
  SingleConnection client(server.endpoint);
  client.connect();
  EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("x"))), "x");
  EXPECT_LT(watch.elapsed(), 1s);
}

TEST(ViolationTest, ends_its_connection_with_an_error_and_no_other) {
  TestServer server;
  SingleConnection good(server.endpoint);
  good.connect();
  ScriptedPeer bad = ScriptedPeer::connected_to(server.endpoint);
  bad.send_hex("a5a5 00 0000000a 0000 00000001 000001 78  a5a4 00");
  bad.expect_end();
  const ErrorEvent event = server.errors.at(0);
  EXPECT_EQ(event.code, Errc::protocol_violation);
  EXPECT_EQ(event.remote_endpoint, bad.local_endpoint());
  EXPECT_NE(event.text.find("a5 a4"), std::string::npos) << event.text;
  EXPECT_EQ(server.disconnected.at(0).reason, Errc::protocol_violation);
  EXPECT_EQ(server.received.at(0).text, "x") << "the frame in front of the fault";
  EXPECT_EQ(as_text(good.sync_send(event::echo, as_bytes("still"))), "still");
}

TEST(ViolationTest, is_seen_at_the_first_wrong_byte) {
  TestServer server;
  ScriptedPeer bad = ScriptedPeer::connected_to(server.endpoint);
  bad.send_hex("47");
  EXPECT_EQ(server.errors.at(0).code, Errc::protocol_violation);
}

TEST(ViolationTest, a_message_above_the_limit_is_refused_by_its_header_alone) {
  ListenerOptions options;
  options.max_message_size = 1000;
  TestServer server(options);
  ScriptedPeer bad = ScriptedPeer::connected_to(server.endpoint);
  bad.send_hex("a5a5 00 0000000a 0000 00000001 0003e9");
  bad.expect_end();
  EXPECT_EQ(server.errors.at(0).code, Errc::message_limit_exceeded);
  EXPECT_EQ(server.errors.at(0).remote_endpoint, bad.local_endpoint());
  EXPECT_EQ(server.disconnected.at(0).reason, Errc::message_limit_exceeded);
}

TEST(ViolationTest, a_message_of_exactly_the_limit_is_none) {
  ListenerOptions options;
  options.max_message_size = 1000;
  TestServer server(options);
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  peer.send_frame({.event = event::note}, Bytes(1000));
  EXPECT_EQ(server.received.at(0).text.size(), 1000U);
}

TEST(FloodTest, a_client_that_asks_and_never_reads_is_bounded_and_others_are_served) {
  ListenerOptions options;
  options.queue.high_water_mark = megabyte;
  TestServer server(options);
  server.listener.on_received([](Message& message) { message.reply(message.payload()); });
  ScriptedPeer flooding = ScriptedPeer::connected_to(server.endpoint);
  const Bytes payload(16 * 1024);
  Bytes requests;
  for (int i = 0; i < 4000; ++i) {
    append_frame(requests, header_for(payload, detail::flag::sync, event::echo), payload);
  }
  const std::size_t sent = flooding.send_until_blocked(requests);
  EXPECT_LT(sent, requests.size()) << "the server reads on";
  EXPECT_LE(server.listener.statistics().bytes_queued, 2 * megabyte);
  expect_service(server);
  const std::size_t whole = sent / (payload.size() + detail::frame_header_size);
  for (std::size_t i = 0; i < whole; ++i) EXPECT_EQ(flooding.receive_frame().payload, payload);
}

TEST(FloodTest, five_hundred_half_headers_do_not_delay_a_new_client) {
  if (!allow_descriptors(1200)) GTEST_SKIP() << "not enough descriptors";
  TestServer server;
  std::vector<ScriptedPeer> peers;
  for (int i = 0; i < 500; ++i) {
    peers.push_back(ScriptedPeer::connected_to(server.endpoint));
    peers.back().send_hex("a5a5 00 0000000a");
  }
  expect_service(server);
  EXPECT_TRUE(wait_until([&] { return server.listener.statistics().sessions >= 500; }));
}

TEST(FloodTest, two_hundred_announced_giants_cost_only_what_they_sent) {
  if (!allow_descriptors(600)) GTEST_SKIP() << "not enough descriptors";
  TestServer server;
  std::vector<ScriptedPeer> peers;
  const std::size_t before = resident_bytes();
  for (int i = 0; i < 200; ++i) {
    peers.push_back(ScriptedPeer::connected_to(server.endpoint));
    peers.back().send_hex("a5a5 00 0000000a 0000 00000001 ffffff 0102030405060708");
  }
  ASSERT_TRUE(wait_until([&] { return server.listener.statistics().bytes_received == 200 * 24; }));
  EXPECT_LT(resident_bytes() - before, 50 * megabyte);
  expect_service(server);
}

TEST(FloodTest, a_giant_that_trickles_in_arrives_whole) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  const Bytes payload = pattern(3 * megabyte);
  Bytes frame;
  append_frame(frame, header_for(payload, detail::flag::sync, event::echo, 0, 1), payload);
  for (BytesView rest = frame; !rest.empty();) {
    const BytesView piece = rest.first(std::min<std::size_t>(rest.size(), 10'007));
    peer.send(piece);
    rest = rest.subspan(piece.size());
  }
  EXPECT_EQ(peer.receive_frame().payload, payload);
}

TEST(DescriptorsTest, accepting_pauses_without_spinning_and_recovers_when_some_are_free) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the undefined behaviour sanitizer needs a descriptor to look at a type";
#endif
  TestServer server;
  ScriptedPeer early = ScriptedPeer::connected_to(server.endpoint);
  ASSERT_TRUE(server.accepted.wait_for(1));
  ScriptedPeer late;
  {
    const NoDescriptorsLeft none;
    late.connect(server.endpoint);
    const ErrorEvent event = server.errors.at(0);
    EXPECT_EQ(event.code, Errc::accept_paused);
    const auto used_before = processor_time();
    EXPECT_FALSE(server.accepted.wait_for(2, 300ms));
    EXPECT_LT(processor_time() - used_before, 100ms);
    EXPECT_EQ(server.errors.size(), 1U) << "told once, not at every try";
    early.send_frame({.flags = detail::flag::sync, .event = event::echo}, as_bytes("early"));
    EXPECT_EQ(early.receive_frame().text(), "early");
  }
  ASSERT_TRUE(server.accepted.wait_for(2));
  late.send_frame({.flags = detail::flag::sync, .event = event::echo}, as_bytes("late"));
  EXPECT_EQ(late.receive_frame().text(), "late");
}

}  // namespace
}  // namespace ntcpmsg::test
