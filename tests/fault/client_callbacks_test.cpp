// Everything a handler of a client may do, in every event.

#include <optional>

#include "callback_matrix.hpp"

namespace ntcpmsg::test {
namespace {

enum class Kind { single, cable };

using Results = std::vector<error_code>;

/// A client of either kind, destroyed like one.
class AnyClient {
 public:
  AnyClient(Kind kind, const Endpoint& server) {
    if (kind == Kind::single) {
      single_.emplace(server);
    } else {
      cable_.emplace(server, 3U);
    }
  }

  MessageClient& operator*() {
    return single_ ? static_cast<MessageClient&>(*single_) : static_cast<MessageClient&>(*cable_);
  }
  MessageClient* operator->() { return &**this; }

 private:
  std::optional<SingleConnection> single_;
  std::optional<SingleConnectionCable> cable_;
};

class ClientCallbackTest : public testing::TestWithParam<std::tuple<Kind, Event, Action>> {
 protected:
  ClientCallbackTest() {
    server_.on_accepted([this](const SessionHandle& session) {
      // Once, over the first connection of a cable.
      if (pushed_.exchange(true)) return;
      for (int i = 0; i < burst; ++i) session.push(1, as_bytes("push"));
    });
    server_.on_received([this](Message& message) {
      peer_.change([](PeerSeen& seen) { ++seen.received; });
      if (message.wants_reply()) message.reply(message.payload());
    });
    client_ = std::make_unique<AnyClient>(kind(), server_.listen(loopback()));
    set_handlers();
  }

  ~ClientCallbackTest() override {
    client_.reset();
    // The handlers use this object.
    EXPECT_TRUE(actor_.observed.await([](const Observed& o) { return o.gone; }));
  }

  void set_handlers() {
    const auto act = [this](Action action) { return perform(action); };
    MessageClient& client = **client_;
    client.on_connected([this, act, token = actor_.token()] {
      actor_.handle(
          Event::connected, token, [](Observed& o) { ++o.connected; }, act);
    });
    client.on_received([this, act, token = actor_.token()](Message&) {
      actor_.handle(
          Event::received, token, [](Observed& o) { ++o.received; }, act);
    });
    client.on_disconnected([this, act, token = actor_.token()](error_code) {
      actor_.handle(
          Event::disconnected, token, [](Observed& o) { ++o.disconnected; }, act);
    });
    client.on_error([this, act, token = actor_.token()](const ErrorEvent& error) {
      actor_.handle(
          Event::error, token, [&](Observed& o) { o.errors.push_back(error); }, act);
    });
  }

  Results perform(Action action) {
    error_code ec;
    MessageClient& client = **client_;
    switch (action) {
      case Action::send: client.async_send(5, as_bytes("from the handler"), ec); return {ec};
      case Action::close: EXPECT_EQ(client.close(), 0U); return {};
      case Action::sync_call: return sync_calls(client);
      case Action::destroy: client_.reset(); return {};
      case Action::throw_exception: return {};
    }
    return {};
  }

  static Results sync_calls(MessageClient& client) {
    Results results(3);
    client.sync_send(5, as_bytes("question"), patience, results[0]);
    client.flush(patience, results[1]);
    client.connect(patience, results[2]);
    return results;
  }

  /// Returns when the handler has acted.
  void run() {
    (*client_)->start();
    if (event() == Event::disconnected) {
      const auto all = [](const Observed& o) { return o.connected == 1 && o.received == burst; };
      ASSERT_TRUE(actor_.observed.await(all));
      // With the listener's port gone, a cable does not come back while it is cut.
      server_.close();
    }
    ASSERT_TRUE(actor_.await_acted());
  }

  void expect_alive() {
    if (event() == Event::disconnected) return;
    error_code ec;
    const Bytes reply = (*client_)->sync_send(6, as_bytes("still there?"), patience, ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(as_text(reply), "still there?");
  }

  void expect_sent() {
    const Observed o = actor_.observed.get();
    if (event() == Event::disconnected) {
      EXPECT_EQ(o.results[0], Errc::not_connected);
      return;
    }
    EXPECT_FALSE(o.results[0]) << o.results[0].message();
    EXPECT_TRUE(peer_.await([](const PeerSeen& seen) { return seen.received >= 1; }));
    expect_alive();
  }

  void expect_closed() {
    (*client_)->close(patience);
    EXPECT_EQ((*client_)->state(), ConnectionState::closed);
    EXPECT_EQ(actor_.observed.get().disconnected, 1);
    error_code ec;
    (*client_)->async_send(1, {}, ec);
    EXPECT_EQ(ec, Errc::closed);
    (*client_)->connect(patience, ec);
    EXPECT_EQ(ec, Errc::closed);
  }

  void expect_would_deadlock() {
    const Results results = actor_.observed.get().results;
    EXPECT_EQ(results[0], Errc::would_deadlock);
    EXPECT_EQ(results[1], Errc::would_deadlock);
    // There is nothing to wait for when it is connected.
    EXPECT_EQ(results[2],
              event() == Event::disconnected ? error_code(Errc::would_deadlock) : error_code());
    expect_alive();
  }

  void expect_destroyed() {
    EXPECT_TRUE(actor_.observed.await([](const Observed& o) { return o.gone; }));
    EXPECT_EQ(actor_.observed.get().late_calls, 0);
  }

  void expect_reported() {
    const auto told = [](const Observed& o) { return o.reported(thrown_text) == 1; };
    if (event() != Event::error) {
      EXPECT_TRUE(actor_.observed.await(told));
    }
    expect_alive();
    const Observed o = actor_.observed.get();
    EXPECT_EQ(o.errors.size(), 1U);
    EXPECT_EQ(o.reported(provoking_text), event() == Event::error ? 1 : 0);
  }

  static Kind kind() { return std::get<0>(GetParam()); }
  static Event event() { return std::get<1>(GetParam()); }
  static Action action() { return std::get<2>(GetParam()); }

  Monitor<PeerSeen> peer_;
  std::atomic<bool> pushed_{false};
  Listener server_;
  Actor actor_{event(), action()};
  std::unique_ptr<AnyClient> client_;
};

TEST_P(ClientCallbackTest, has_the_defined_result) {
  Watchdog watchdog(patience * 3);
  run();
  if (HasFatalFailure()) return;
  EXPECT_LT(actor_.observed.get().took, 2s);
  switch (action()) {
    case Action::send: return expect_sent();
    case Action::close: return expect_closed();
    case Action::sync_call: return expect_would_deadlock();
    case Action::destroy: return expect_destroyed();
    case Action::throw_exception: return expect_reported();
  }
}

std::string name_of(const testing::TestParamInfo<ClientCallbackTest::ParamType>& test) {
  const auto [kind, event, action] = test.param;
  return std::string(kind == Kind::single ? "single" : "cable") + "_" + to_string(action) + "_in_" +
         to_string(event);
}

INSTANTIATE_TEST_SUITE_P(Clients,
                         ClientCallbackTest,
                         testing::Combine(testing::Values(Kind::single, Kind::cable),
                                          testing::ValuesIn(all_events),
                                          testing::ValuesIn(all_actions)),
                         name_of);

}  // namespace
}  // namespace ntcpmsg::test
