// Everything a handler of a listener may do, in every event.

#include "callback_matrix.hpp"

namespace ntcpmsg::test {
namespace {

using Results = std::vector<error_code>;

class ListenerCallbackTest : public testing::TestWithParam<std::tuple<Event, Action>> {
 protected:
  ListenerCallbackTest() {
    set_handlers();
    endpoint_ = listener_->listen(loopback());
    connect_client();
  }

  ~ListenerCallbackTest() override {
    client_.reset();
    listener_.reset();
    // The handlers use this object.
    EXPECT_TRUE(actor_.observed.await([](const Observed& o) { return o.gone; }));
  }

  void connect_client() {
    ClientOptions options;
    // Without, its messages come right behind the connection.
    options.hello = event() != Event::connected;
    client_ = std::make_unique<SingleConnection>(endpoint_, options);
    client_->on_connected([this] {
      error_code ignored;
      for (int i = 0; i < burst; ++i) client_->async_send(1, as_bytes("message"), ignored);
    });
    client_->on_received([this](Message&) { peer_.change([](PeerSeen& s) { ++s.received; }); });
    client_->on_disconnected(
        [this](error_code) { peer_.change([](PeerSeen& s) { ++s.disconnected; }); });
  }

  void set_handlers() {
    listener_->on_accepted([this, token = actor_.token()](const SessionHandle& session) {
      actor_.handle(
          Event::connected,
          token,
          [](Observed& o) { ++o.connected; },
          [&](Action action) { return perform(action, session); });
    });
    listener_->on_received([this, token = actor_.token()](Message& message) {
      if (message.wants_reply()) message.reply(message.payload());
      actor_.handle(
          Event::received,
          token,
          [](Observed& o) { ++o.received; },
          [&](Action action) { return perform(action, message.session()); });
    });
    listener_->on_disconnected([this, token = actor_.token()](const DisconnectedEvent& event) {
      actor_.handle(
          Event::disconnected,
          token,
          [](Observed& o) { ++o.disconnected; },
          [&](Action action) { return perform(action, event.session); });
    });
    listener_->on_error([this, token = actor_.token()](const ErrorEvent& error) {
      actor_.handle(
          Event::error,
          token,
          [&](Observed& o) { o.errors.push_back(error); },
          [&](Action action) { return perform(action, listener_->sessions().at(0)); });
    });
  }

  Results perform(Action action, const SessionHandle& session) {
    switch (action) {
      case Action::send: return send(session);
      case Action::close: listener_->close(); return {};
      case Action::sync_call: return sync_calls(session);
      case Action::destroy: listener_.reset(); return {};
      case Action::throw_exception: return {};
    }
    return {};
  }

  Results send(const SessionHandle& session) {
    Results results(2);
    const Endpoint remote = session.remote_endpoint();
    session.push(5, as_bytes("from the handler"), results[0]);
    listener_->push(remote, 5, as_bytes("from the handler"), results[1]);
    EXPECT_EQ(listener_->broadcast(5, as_bytes("to all")), results[0] ? 0U : 1U);
    return results;
  }

  Results sync_calls(const SessionHandle& session) {
    Results results(2);
    session.sync_push(5, as_bytes("question"), patience, results[0]);
    listener_->drain(patience, results[1]);
    return results;
  }

  /// Returns when the handler has acted.
  void run() {
    client_->start();
    if (event() == Event::disconnected) {
      ASSERT_TRUE(actor_.observed.await([](const Observed& o) { return o.received == burst; }));
      client_->disconnect();
    }
    ASSERT_TRUE(actor_.await_acted());
  }

  void expect_alive() {
    error_code ec;
    client_->connect(patience, ec);
    EXPECT_FALSE(ec) << ec.message();
    const Bytes reply = client_->sync_send(6, as_bytes("still there?"), patience, ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(as_text(reply), "still there?");
  }

  void expect_sent() {
    const bool gone = event() == Event::disconnected;
    for (const auto& ec : actor_.observed.get().results) {
      EXPECT_EQ(ec, gone ? error_code(Errc::unknown_peer) : error_code()) << ec.message();
    }
    if (!gone) {
      EXPECT_TRUE(peer_.await([](const PeerSeen& s) { return s.received == 3; }));
    }
    expect_alive();
  }

  void expect_closed() {
    if (event() != Event::disconnected) {
      EXPECT_TRUE(peer_.await([](const PeerSeen& s) { return s.disconnected == 1; }));
    }
    listener_->close(patience);
    EXPECT_EQ(actor_.observed.get().disconnected, 1);
    EXPECT_TRUE(listener_->sessions().empty());
    error_code ec;
    listener_->listen(loopback(), ec);
    EXPECT_EQ(ec, Errc::closed);
    client_->connect(patience, ec);
    EXPECT_TRUE(ec);
  }

  void expect_would_deadlock() {
    const Results results = actor_.observed.get().results;
    EXPECT_EQ(results[0],
              event() == Event::disconnected ? Errc::unknown_peer : Errc::would_deadlock);
    EXPECT_EQ(results[1], Errc::would_deadlock);
    expect_alive();
  }

  void expect_destroyed() {
    EXPECT_TRUE(actor_.observed.await([](const Observed& o) { return o.gone; }));
    EXPECT_EQ(actor_.observed.get().late_calls, 0);
    if (event() != Event::disconnected) {
      EXPECT_TRUE(await_true([&] { return !client_->connected(); }));
    }
  }

  void expect_reported() {
    if (event() != Event::error) {
      EXPECT_TRUE(
          actor_.observed.await([](const Observed& o) { return o.reported(thrown_text) == 1; }));
    }
    expect_alive();
    const Observed o = actor_.observed.get();
    EXPECT_EQ(o.errors.size(), 1U);
    EXPECT_EQ(o.reported(provoking_text), event() == Event::error ? 1 : 0);
    EXPECT_NE(o.errors.at(0).remote_endpoint, Endpoint());
  }

  static Event event() { return std::get<0>(GetParam()); }
  static Action action() { return std::get<1>(GetParam()); }

  Monitor<PeerSeen> peer_;
  Actor actor_{event(), action()};
  std::unique_ptr<Listener> listener_ = std::make_unique<Listener>();
  Endpoint endpoint_;
  std::unique_ptr<SingleConnection> client_;
};

TEST_P(ListenerCallbackTest, has_the_defined_result) {
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

std::string name_of(const testing::TestParamInfo<ListenerCallbackTest::ParamType>& test) {
  const auto [event, action] = test.param;
  return std::string(to_string(action)) + "_in_" +
         (event == Event::connected ? "accepted" : to_string(event));
}

INSTANTIATE_TEST_SUITE_P(Listeners,
                         ListenerCallbackTest,
                         testing::Combine(testing::ValuesIn(all_events),
                                          testing::ValuesIn(all_actions)),
                         name_of);

}  // namespace
}  // namespace ntcpmsg::test
