// The proxy itself: it passes on what it should, and breaks what it should.

#include "fault_proxy.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "fault_support.hpp"

namespace ntcpmsg::test {
namespace {

using boost::asio::ip::tcp;
using Clock = std::chrono::steady_clock;

/// A client and a server with the proxy between them.
struct Pair {
  explicit Pair(const FaultPlan& plan)
      : acceptor(context, loopback()),
        proxy(acceptor.local_endpoint(), [plan](std::size_t) { return plan; }),
        client(context),
        server(context) {
    client.connect(proxy.endpoint());
    acceptor.accept(server);
  }

  boost::asio::io_context context;
  tcp::acceptor acceptor;
  FaultProxy proxy;
  tcp::socket client;
  tcp::socket server;
};

error_code send(tcp::socket& socket, std::string_view text) {
  error_code ec;
  boost::asio::write(socket, boost::asio::buffer(text), ec);
  return ec;
}

/// All that comes until the end of the stream.
std::string receive(tcp::socket& socket, error_code& ec) {
  std::string text;
  boost::asio::read(socket, boost::asio::dynamic_buffer(text), ec);
  return text;
}

std::string receive(tcp::socket& socket, std::size_t count) {
  std::string text(count, ' ');
  boost::asio::read(socket, boost::asio::buffer(text));
  return text;
}

TEST(FaultProxyTest, passes_on_both_ways_and_ends_as_the_ends_do) {
  Pair pair({});
  EXPECT_FALSE(send(pair.client, "question"));
  EXPECT_EQ(receive(pair.server, 8), "question");
  pair.client.shutdown(tcp::socket::shutdown_send);
  error_code ec;
  EXPECT_EQ(receive(pair.server, ec), "");
  EXPECT_EQ(ec, boost::asio::error::eof);
  EXPECT_FALSE(send(pair.server, "answer"));
  pair.server.close();
  EXPECT_EQ(receive(pair.client, ec), "answer");
  EXPECT_EQ(ec, boost::asio::error::eof);
  EXPECT_EQ(pair.proxy.accepted(), 1U);
  EXPECT_EQ(pair.proxy.cuts(), 0U);
}

TEST(FaultProxyTest, closes_both_ends_after_exactly_so_many_bytes) {
  Pair pair({.up = {.cut = Cut::close, .cut_after = 3}});
  send(pair.client, "question");
  error_code ec;
  EXPECT_EQ(receive(pair.server, ec), "que");
  EXPECT_EQ(ec, boost::asio::error::eof);
  EXPECT_EQ(receive(pair.client, ec), "");
  EXPECT_EQ(ec, boost::asio::error::eof);
  EXPECT_EQ(pair.proxy.cuts(), 1U);
}

TEST(FaultProxyTest, resets_both_ends) {
  Pair pair({.down = {.cut = Cut::reset, .cut_after = 2}});
  send(pair.server, "answer");
  error_code ec;
  EXPECT_EQ(receive(pair.client, ec), "an");
  EXPECT_EQ(ec, boost::asio::error::connection_reset);
  receive(pair.server, ec);
  EXPECT_EQ(ec, boost::asio::error::connection_reset);
}

TEST(FaultProxyTest, half_closes_one_direction) {
  Pair pair({.up = {.cut = Cut::half_close, .cut_after = 1}});
  send(pair.client, "question");
  error_code ec;
  EXPECT_EQ(receive(pair.server, ec), "q");
  send(pair.server, "answer");
  EXPECT_EQ(receive(pair.client, 6), "answer");
}

TEST(FaultProxyTest, passes_on_single_bytes_slowly) {
  Pair pair({.up = {.bytes_per_second = 1000, .largest_piece = 1},
             .down = {.delay = std::chrono::milliseconds(20)}});
  const auto start = Clock::now();
  send(pair.client, std::string(20, 'x'));
  EXPECT_EQ(receive(pair.server, 20), std::string(20, 'x'));
  EXPECT_GE(Clock::now() - start, 20ms);
  send(pair.server, "answer");
  EXPECT_EQ(receive(pair.client, 6), "answer");
  EXPECT_GE(Clock::now() - start, 40ms);
}

TEST(FaultProxyTest, swallows_in_a_black_hole_and_stops_reading_in_a_stall) {
  Pair hole({.up = {.cut = Cut::black_hole, .cut_after = 4}});
  send(hole.client, "question");
  EXPECT_EQ(receive(hole.server, 4), "ques");
  EXPECT_FALSE(send(hole.client, std::string(10'000'000, 'x')));

  Pair stalled({.up = {.cut = Cut::stall, .cut_after = 4}});
  send(stalled.client, "question");
  EXPECT_EQ(receive(stalled.server, 4), "ques");
  stalled.client.non_blocking(true);
  EXPECT_EQ(send(stalled.client, std::string(50'000'000, 'x')), boost::asio::error::would_block);
  stalled.client.non_blocking(false);
  send(stalled.server, "answer");
  EXPECT_EQ(receive(stalled.client, 6), "answer");
}

TEST(FaultProxyTest, cuts_everything_at_once_when_told) {
  Pair pair({});
  send(pair.client, "question");
  EXPECT_EQ(receive(pair.server, 8), "question");
  pair.proxy.cut_all(Cut::reset);
  error_code ec;
  receive(pair.server, ec);
  EXPECT_EQ(ec, boost::asio::error::connection_reset);
  receive(pair.client, ec);
  EXPECT_EQ(ec, boost::asio::error::connection_reset);
}

}  // namespace
}  // namespace ntcpmsg::test
