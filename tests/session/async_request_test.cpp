// Requests with a completion token.

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <thread>
#include <variant>

#include "test_server.hpp"

namespace ntcpmsg::test {
namespace {

namespace asio = boost::asio;
using asio::cancellation_type;

class AsyncRequestTest : public testing::Test {
 protected:
  AsyncRequestTest() {
    log.watch(client);
    client.connect();
  }

  TestServer server;
  ClientLog log;
  SingleConnection client{server.endpoint, closing_soon()};
};

class CancelledRequestTest : public AsyncRequestTest,
                             public testing::WithParamInterface<cancellation_type> {};

std::string name_of(const testing::TestParamInfo<cancellation_type>& type) {
  if (type.param == cancellation_type::terminal) return "terminal";
  return type.param == cancellation_type::partial ? "partial" : "total";
}

TEST_F(AsyncRequestTest, calls_back_with_the_reply_on_a_thread_of_the_client) {
  EventLog<std::pair<std::string, std::thread::id>> replies;
  client.async_request(
      event::echo, as_bytes("question"), patience, [&](error_code ec, const Bytes& reply) {
        EXPECT_FALSE(ec);
        replies.add({std::string(as_text(reply)), std::this_thread::get_id()});
      });
  EXPECT_EQ(replies.at(0).first, "question");
  EXPECT_NE(replies.at(0).second, std::this_thread::get_id());
}

TEST_F(AsyncRequestTest, fulfils_a_future) {
  auto reply = client.async_request(event::echo, as_bytes("question"), patience, asio::use_future);
  EXPECT_EQ(as_text(reply.get()), "question");
  auto failed = client.async_request(event::fail, {}, patience, asio::use_future);
  EXPECT_THROW(failed.get(), system_error);
}

TEST_F(AsyncRequestTest, resumes_a_coroutine) {
  asio::io_context context;
  auto done = asio::co_spawn(
      context,
      [this]() -> asio::awaitable<std::string> {
        std::string all;
        for (const char* text : {"one ", "two ", "three"}) {
          const Bytes reply = co_await client.async_request(
              event::echo, as_bytes(text), patience, asio::use_awaitable);
          all += as_text(reply);
        }
        co_return all;
      },
      asio::use_future);
  context.run();
  EXPECT_EQ(done.get(), "one two three");
}

TEST_F(AsyncRequestTest, completes_on_the_executor_of_its_handler) {
  asio::io_context context;
  std::thread::id completed_on;
  client.async_request(
      event::echo, {}, patience, asio::bind_executor(context, [&](error_code, const Bytes&) {
        completed_on = std::this_thread::get_id();
      }));
  context.run();
  EXPECT_EQ(completed_on, std::this_thread::get_id());
}

TEST_F(AsyncRequestTest, times_out_when_no_reply_comes) {
  const Stopwatch watch;
  auto reply = client.async_request(event::hold, {}, 50ms, asio::use_future);
  EXPECT_THROW(reply.get(), system_error);
  EXPECT_GE(watch.elapsed(), 50ms);
  EXPECT_LT(watch.elapsed(), 1s);
}

TEST_F(AsyncRequestTest, each_times_out_at_its_own_time) {
  EventLog<int> order;
  for (const int limit : {90, 30, 60}) {
    client.async_request(
        event::hold, {}, std::chrono::milliseconds(limit), [&, limit](error_code ec, const Bytes&) {
          EXPECT_EQ(ec, Errc::timed_out);
          order.add(limit);
        });
  }
  ASSERT_TRUE(order.wait_for(3));
  EXPECT_EQ(order.all(), (std::vector{30, 60, 90}));
}

TEST_F(AsyncRequestTest, an_exception_of_the_callback_is_told_by_the_error_event) {
  client.async_request(event::echo, {}, patience, [](error_code, const Bytes&) {
    throw std::runtime_error("my callback failed");
  });
  EXPECT_EQ(log.errors.at(0).code, Errc::handler_threw);
  EXPECT_EQ(log.errors.at(0).text, "my callback failed");
  EXPECT_TRUE(client.connected());
}

TEST_F(AsyncRequestTest, may_be_made_inside_a_callback) {
  EventLog<std::string> replies;
  client.async_request(event::echo, as_bytes("1"), patience, [&](error_code, const Bytes&) {
    client.async_request(event::echo, as_bytes("2"), patience, [&](error_code, const Bytes& reply) {
      replies.add(std::string(as_text(reply)));
    });
  });
  EXPECT_EQ(replies.at(0), "2");
}

TEST_P(CancelledRequestTest, completes_with_operation_aborted_and_the_next_request_is_right) {
  asio::cancellation_signal signal;
  EventLog<error_code> outcome;
  client.async_request(event::hold,
                       {},
                       patience,
                       asio::bind_cancellation_slot(
                           signal.slot(), [&](error_code ec, const Bytes&) { outcome.add(ec); }));
  Responder held = server.held.take();
  signal.emit(GetParam());
  EXPECT_EQ(outcome.at(0), asio::error::operation_aborted);
  held.reply(as_bytes("too late"));
  EXPECT_EQ(as_text(client.sync_send(event::echo, as_bytes("next"))), "next");
  EXPECT_EQ(outcome.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Types,
                         CancelledRequestTest,
                         testing::Values(cancellation_type::terminal,
                                         cancellation_type::partial,
                                         cancellation_type::total),
                         name_of);

TEST_F(AsyncRequestTest, a_timer_beside_it_in_a_coroutine_cancels_it) {
  using asio::experimental::awaitable_operators::operator||;
  asio::io_context context;
  auto winner = asio::co_spawn(
      context,
      [this]() -> asio::awaitable<std::size_t> {
        asio::steady_timer timer(co_await asio::this_coro::executor, 30ms);
        const auto result =
            co_await (client.async_request(event::hold, {}, patience, asio::use_awaitable) ||
                      timer.async_wait(asio::use_awaitable));
        co_return result.index();
      },
      asio::use_future);
  const Stopwatch watch;
  context.run();
  EXPECT_EQ(winner.get(), 1U);
  EXPECT_LT(watch.elapsed(), 2s);
}

TEST_F(AsyncRequestTest, wins_against_a_timer_in_a_coroutine) {
  using asio::experimental::awaitable_operators::operator||;
  asio::io_context context;
  auto reply = asio::co_spawn(
      context,
      [this]() -> asio::awaitable<std::string> {
        asio::steady_timer timer(co_await asio::this_coro::executor, patience);
        const auto result = co_await (
            client.async_request(event::echo, as_bytes("quick"), patience, asio::use_awaitable) ||
            timer.async_wait(asio::use_awaitable));
        co_return std::string(as_text(std::get<0>(result)));
      },
      asio::use_future);
  context.run();
  EXPECT_EQ(reply.get(), "quick");
}

TEST_F(AsyncRequestTest, thousands_in_flight_get_their_own_replies) {
  constexpr std::size_t count = 5000;
  EventLog<bool> right;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string question = std::to_string(i);
    client.async_request(event::echo,
                         as_bytes(question),
                         patience,
                         [&right, question](error_code ec, const Bytes& reply) {
                           right.add(!ec && as_text(reply) == question);
                         });
  }
  ASSERT_TRUE(right.wait_for(count));
  EXPECT_EQ(std::ranges::count(right.all(), true), static_cast<std::ptrdiff_t>(count));
}

}  // namespace
}  // namespace ntcpmsg::test
