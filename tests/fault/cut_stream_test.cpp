// A connection that is cut after every byte of a stream of three messages.

#include <numeric>

#include "fault_proxy.hpp"
#include "fault_support.hpp"
#include "wire/frame.hpp"

namespace ntcpmsg::test {
namespace {

enum class Direction { to_server, to_client };

struct Seen {
  std::vector<std::string> messages;
  std::vector<error_code> ends;
  std::vector<error_code> errors;
};

/// What one side of a connection was told.
using Log = Monitor<Seen>;

const std::vector<std::string>& three_messages() {
  static const std::vector<std::string> texts{"first", "", "the third message"};
  return texts;
}

std::size_t stream_size() {
  return std::accumulate(three_messages().begin(),
                         three_messages().end(),
                         std::size_t{0},
                         [](std::size_t sum, const std::string& text) {
                           return sum + detail::frame_header_size + text.size();
                         });
}

/// The messages that are whole within the first `bytes` bytes.
std::vector<std::string> whole_within(std::size_t bytes) {
  std::vector<std::string> whole;
  for (const auto& text : three_messages()) {
    const std::size_t size = detail::frame_header_size + text.size();
    if (bytes < size) break;
    bytes -= size;
    whole.push_back(text);
  }
  return whole;
}

void note_message(Log& log, const Message& message) {
  log.change([&](Seen& seen) { seen.messages.emplace_back(message.text()); });
}

void note_end(Log& log, error_code reason) {
  log.change([&](Seen& seen) { seen.ends.push_back(reason); });
}

void note_error(Log& log, const ErrorEvent& event) {
  log.change([&](Seen& seen) { seen.errors.push_back(event.code); });
}

void expect_one_end(const Log& log, Cut cut) {
  const Seen seen = log.get();
  ASSERT_EQ(seen.ends.size(), 1U);
  if (cut == Cut::close) {
    EXPECT_EQ(seen.ends[0], Errc::end_of_stream);
  }
  for (const auto& ec : seen.errors) EXPECT_EQ(ec, Errc::messages_unsent) << ec.message();
  EXPECT_LE(seen.errors.size(), 1U);
}

/// One connection, cut after so many bytes of one direction.
class CutRun {
 public:
  CutRun(Direction direction, Cut cut) : to_server_(direction == Direction::to_server), cut_(cut) {
    listener_.on_received([this](Message& m) { note_message(server_log_, m); });
    listener_.on_disconnected([this](const auto& event) { note_end(server_log_, event.reason); });
    listener_.on_error([this](const auto& event) { note_error(server_log_, event); });
    if (to_server_) return;
    listener_.on_accepted([](const SessionHandle& session) {
      error_code ignored;
      for (const auto& text : three_messages()) session.push(1, as_bytes(text), ignored);
    });
  }

  void run(std::size_t bytes) {
    fault_ = {.cut = cut_, .cut_after = bytes};
    FaultProxy proxy(listener_.listen(loopback()));
    proxy.set_plan(to_server_ ? FaultPlan{.up = fault_} : FaultPlan{.down = fault_});
    run_client(proxy.endpoint());
    listener_.close();
    const bool told = to_server_ || connected_;
    EXPECT_EQ((to_server_ ? server_log_ : client_log_).get().messages,
              told ? whole_within(bytes) : std::vector<std::string>());
    EXPECT_TRUE((to_server_ ? client_log_ : server_log_).get().messages.empty());
    expect_one_end(server_log_, cut_);
    if (connected_) expect_one_end(client_log_, cut_);
    EXPECT_EQ(client_log_.get().ends.size(), connected_ ? 1U : 0U);
  }

 private:
  void run_client(const Endpoint& endpoint) {
    ClientOptions options;
    options.hello = false;
    SingleConnection client(endpoint, options);
    client.on_received([this](Message& m) { note_message(client_log_, m); });
    client.on_disconnected([this](error_code reason) { note_end(client_log_, reason); });
    client.on_error([this](const auto& event) { note_error(client_log_, event); });
    error_code failed;
    error_code ignored;
    client.connect(patience, failed);
    // A reset can be faster than the connection; nothing has begun then that could end.
    connected_ = !failed;
    EXPECT_TRUE(connected_ || cut_ == Cut::reset) << failed.message();
    if (to_server_) {
      for (const auto& text : three_messages()) client.async_send(1, as_bytes(text), ignored);
    }
    const auto ended = [](const Seen& seen) { return !seen.ends.empty(); };
    EXPECT_TRUE(!connected_ || client_log_.await(ended));
    EXPECT_TRUE(server_log_.await(ended));
  }

  bool to_server_;
  Cut cut_;
  FlowFault fault_;
  bool connected_ = false;
  Log server_log_;
  Log client_log_;
  // Behind the logs, so that it goes first.
  Listener listener_;
};

class CutStreamTest : public testing::TestWithParam<std::tuple<Direction, Cut>> {};

TEST_P(CutStreamTest, whole_messages_arrive_and_the_end_is_told_once) {
  const auto [direction, cut] = GetParam();
  Watchdog watchdog;
  for (std::size_t bytes = 0; bytes <= stream_size() && !HasFailure(); ++bytes) {
    const std::string what = "cut after " + std::to_string(bytes) + " bytes";
    SCOPED_TRACE(what);
    watchdog.step(what);
    CutRun(direction, cut).run(bytes);
  }
}

std::string name_of(const testing::TestParamInfo<CutStreamTest::ParamType>& test) {
  const auto [direction, cut] = test.param;
  return std::string(direction == Direction::to_server ? "to_server" : "to_client") +
         (cut == Cut::reset ? "_reset" : "_close");
}

INSTANTIATE_TEST_SUITE_P(Cuts,
                         CutStreamTest,
                         testing::Combine(testing::Values(Direction::to_server,
                                                          Direction::to_client),
                                          testing::Values(Cut::close, Cut::reset)),
                         name_of);

struct Outcome {
  std::size_t accepted = 0;
  std::size_t gone = 0;
};

// The hello and its answer are cut, too: the attempt fails, and nobody is told of a connection.
TEST(CutHelloTest, an_attempt_whose_hello_is_cut_fails_and_the_next_one_works) {
  Watchdog watchdog;
  Monitor<Outcome> server;
  Listener listener;
  listener.on_accepted([&](const auto&) { server.change([](Outcome& o) { ++o.accepted; }); });
  listener.on_disconnected([&](const auto&) { server.change([](Outcome& o) { ++o.gone; }); });
  FaultProxy proxy(listener.listen(loopback()));
  std::size_t connected = 0;
  for (std::size_t bytes = 0; connected == 0 && bytes < 200; ++bytes) {
    watchdog.step("hello cut after " + std::to_string(bytes) + " bytes");
    proxy.set_plan({.down = {.cut = bytes % 2 == 0 ? Cut::close : Cut::reset, .cut_after = bytes}});
    std::atomic<int> events{0};
    ClientOptions options;
    options.hello_timeout = patience;
    SingleConnection client(proxy.endpoint(), options);
    client.on_connected([&] { ++events; });
    client.on_disconnected([&](error_code) { ++events; });
    error_code ec;
    client.connect(patience, ec);
    connected += ec ? 0 : 1;
    client.close();
    EXPECT_EQ(events, ec ? 0 : 2) << bytes << ": " << ec.message();
    proxy.set_plan({});
    SingleConnection next(proxy.endpoint());
    EXPECT_NO_THROW(next.connect(patience));
  }
  EXPECT_EQ(connected, 1U);
  EXPECT_TRUE(server.await([](const Outcome& o) { return o.accepted == o.gone; }));
}

}  // namespace
}  // namespace ntcpmsg::test
