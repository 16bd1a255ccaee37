// How a listener answers requests.

#include <gtest/gtest.h>

#include <thread>

#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

using detail::flag::sync;

/// A request as a client without a hello writes it.
void ask(ScriptedPeer& peer, std::uint32_t event, std::uint32_t channel, std::string_view text) {
  peer.send_frame({.flags = sync, .event = event, .channel = channel}, as_bytes(text));
}

TEST(ReplyTest, requests_answered_in_the_handler_are_answered_in_order) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  for (std::uint32_t i = 0; i < 500; ++i) ask(peer, event::echo, i, std::to_string(i));
  for (std::uint32_t i = 0; i < 500; ++i) {
    const WireFrame reply = peer.receive_frame();
    EXPECT_EQ(reply.header.channel, i);
    EXPECT_EQ(reply.text(), std::to_string(i));
  }
}

TEST(ReplyTest, a_handler_that_does_not_answer_answers_with_nothing) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  ask(peer, event::nothing, 5, "question");
  peer.expect_hex("a5a5 01 0000000c 0000 00000005 000000");
}

TEST(ReplyTest, a_listener_without_a_handler_answers_with_nothing) {
  TestServer server;
  server.listener.on_received({});
  SingleConnection client(server.endpoint);
  client.connect();
  EXPECT_TRUE(client.sync_send(event::echo, as_bytes("question")).empty());
}

TEST(ReplyTest, a_message_owes_no_reply) {
  TestServer server;
  EventLog<error_code> outcomes;
  EventLog<bool> owed;
  server.listener.on_received([&](Message& message) {
    error_code ec;
    message.reply(as_bytes("unasked"), ec);
    outcomes.add(ec);
    owed.add(static_cast<bool>(message.take_responder()));
  });
  SingleConnection client(server.endpoint);
  client.connect();
  client.async_send(event::note, {});
  EXPECT_EQ(outcomes.at(0), Errc::invalid_argument);
  EXPECT_FALSE(owed.at(0));
}

TEST(ReplyTest, a_second_reply_fails) {
  TestServer server;
  EventLog<error_code> outcomes;
  server.listener.on_received([&](Message& message) {
    message.reply(as_bytes("first"));
    error_code ec;
    message.reply(as_bytes("second"), ec);
    outcomes.add(ec);
  });
  SingleConnection client(server.endpoint);
  client.connect();
  EXPECT_EQ(as_text(client.sync_send(event::echo, {})), "first");
  EXPECT_EQ(outcomes.at(0), Errc::invalid_argument);
}

TEST(ReplyTest, a_reply_that_is_too_large_leaves_the_request_open_for_another) {
  TestServer server;
  EventLog<error_code> outcomes;
  server.listener.on_received([&](Message& message) {
    error_code ec;
    message.reply(Bytes(101), ec);
    outcomes.add(ec);
    message.reply(as_bytes("in short"));
  });
  ClientOptions options;
  options.max_message_size = 100;
  SingleConnection client(server.endpoint, options);
  client.connect();
  EXPECT_EQ(as_text(client.sync_send(event::echo, {})), "in short");
  EXPECT_EQ(outcomes.at(0), Errc::message_too_large);
}

TEST(ReplyTest, an_exception_is_told_to_both_sides_and_the_connection_lives_on) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  error_code ec;
  client.sync_send(event::fail, {}, patience, ec);
  EXPECT_EQ(ec, Errc::remote_error);
  const ErrorEvent event = server.errors.at(0);
  EXPECT_EQ(event.code, Errc::handler_threw);
  EXPECT_EQ(event.text, "no such id");
  EXPECT_EQ(event.remote_endpoint, client.local_endpoint());
  EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("still"))), "still");
}

TEST(ReplyTest, an_exception_with_more_words_than_the_client_accepts_is_told_without_words) {
  TestServer server;
  server.listener.on_received([](Message&) { throw std::runtime_error(std::string(200, 'x')); });
  ClientOptions options;
  options.max_message_size = 100;
  SingleConnection client(server.endpoint, options);
  client.connect();
  error_code ec;
  EXPECT_TRUE(client.sync_send(event::echo, {}, 1s, ec).empty());
  EXPECT_EQ(ec, Errc::remote_error);
}

TEST(ReplyTest, an_original_client_gets_an_empty_reply_for_an_exception) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  ask(peer, event::fail, 7, "");
  peer.expect_hex("a5a5 01 0000000d 0000 00000007 000000");
}

TEST(ReplyTest, an_exception_after_the_reply_changes_nothing_for_the_requester) {
  TestServer server;
  server.listener.on_received([&](Message& message) {
    message.reply(as_bytes("done"));
    throw std::runtime_error("afterwards");
  });
  SingleConnection client(server.endpoint);
  client.connect();
  EXPECT_EQ(as_text(client.sync_send(event::echo, {})), "done");
  EXPECT_EQ(server.errors.at(0).text, "afterwards");
}

TEST(ResponderTest, answers_from_another_thread) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  std::thread answering([&] { server.held.take().reply(as_bytes("deferred")); });
  EXPECT_EQ(as_text(client.sync_send(event::hold, {})), "deferred");
  answering.join();
}

TEST(ResponderTest, fails_the_request_with_a_text) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  std::thread answering([&] { server.held.take().fail("out of order"); });
  error_code ec;
  EXPECT_EQ(as_text(client.sync_send(event::hold, {}, patience, ec)), "out of order");
  EXPECT_EQ(ec, Errc::remote_error);
  answering.join();
}

TEST(ResponderTest, dropped_unused_fails_the_request_with_a_text) {
  TestServer server;
  SingleConnection client(server.endpoint);
  client.connect();
  error_code ec;
  const Bytes text = client.sync_send(event::drop, {}, patience, ec);
  EXPECT_EQ(ec, Errc::remote_error);
  EXPECT_FALSE(text.empty());
}

TEST(ResponderTest, dropped_unused_gives_an_original_client_an_empty_reply) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  ask(peer, event::drop, 9, "");
  peer.expect_hex("a5a5 01 0000000f 0000 00000009 000000");
}

TEST(ResponderTest, a_second_reply_fails) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  ask(peer, event::hold, 1, "");
  Responder responder = server.held.take();
  EXPECT_TRUE(responder);
  responder.reply(as_bytes("once"));
  EXPECT_FALSE(responder);
  error_code ec;
  responder.reply(as_bytes("twice"), ec);
  EXPECT_EQ(ec, Errc::invalid_argument);
  EXPECT_EQ(peer.receive_frame().text(), "once");
}

TEST(ResponderTest, fails_when_the_session_is_gone) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  ask(peer, event::hold, 1, "");
  Responder responder = server.held.take();
  peer.reset();
  ASSERT_TRUE(server.disconnected.wait_for(1));
  error_code ec;
  responder.reply({}, ec);
  EXPECT_EQ(ec, Errc::unknown_peer);
}

TEST(ResponderTest, more_than_max_deferred_replies_are_not_read) {
  ListenerOptions options;
  options.max_deferred_replies = 3;
  TestServer server(options);
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  for (std::uint32_t i = 0; i < 10; ++i) ask(peer, event::hold, i, "");
  ASSERT_TRUE(server.held.wait_for(3));
  EXPECT_FALSE(server.held.wait_for(4, 50ms));
  for (int i = 0; i < 10; ++i) {
    server.held.take().reply({});
    EXPECT_TRUE(peer.receive_frame().payload.empty());
  }
}

TEST(HalfCloseTest, all_replies_still_arrive) {
  TestServer server;
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  for (std::uint32_t i = 0; i < 100; ++i) ask(peer, event::echo, i, "question");
  ask(peer, event::hold, 100, "");
  peer.half_close();
  Responder responder = server.held.take();
  EXPECT_EQ(server.disconnected.size(), 0U);
  responder.reply(as_bytes("deferred"));
  const auto replies = peer.receive_frames_until_end();
  ASSERT_EQ(replies.size(), 101U);
  EXPECT_EQ(replies.back().text(), "deferred");
  EXPECT_EQ(server.disconnected.at(0).reason, Errc::end_of_stream);
}

TEST(HalfCloseTest, a_reply_that_is_never_given_holds_the_session_for_the_linger_timeout_only) {
  ListenerOptions options;
  options.linger_timeout = 50ms;
  TestServer server(options);
  ScriptedPeer peer = ScriptedPeer::connected_to(server.endpoint);
  ask(peer, event::hold, 1, "");
  ASSERT_TRUE(server.held.wait_for(1));
  peer.half_close();
  peer.expect_end();
  EXPECT_TRUE(server.disconnected.wait_for(1));
}

}  // namespace
}  // namespace ntcpmsg::test
