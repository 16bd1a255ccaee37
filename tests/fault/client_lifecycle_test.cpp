// Clients that are closed and destroyed in every state, many times over, under a watchdog.

#include "lifecycle.hpp"

namespace ntcpmsg::test {
namespace {

/// How a client ends.
enum class Ending { destroy, close, close_then_destroy_inside, disconnect, twice };
constexpr int endings = 5;

class ClientLifecycleTest : public testing::TestWithParam<bool> {
 protected:
  ClientLifecycleTest() {
    listener_.on_received([this](Message& message) {
      if (message.event() != unanswered) return;
      const std::lock_guard guard(mutex_);
      owed_.push_back(message.take_responder());
    });
    server_ = listener_.listen(loopback());
  }
  ~ClientLifecycleTest() override {
    // No handler adds to them any more.
    listener_.close(0ms);
    owed_.clear();
  }

  static ClientOptions options() {
    ClientOptions o;
    o.close_timeout = 20ms;
    o.hello_timeout = patience;
    o.reconnect.base = 1ms;
    o.reconnect.cap = 2ms;
    return o;
  }

  static bool cable() { return GetParam(); }

  std::unique_ptr<Subject> make(const Endpoint& server, const ClientOptions& o = options()) {
    return std::make_unique<Subject>(cable(), server, o);
  }

  std::unique_ptr<Subject> make_connected(const ClientOptions& o = options()) {
    auto client = make(server_, o);
    (*client)->connect(patience);
    return client;
  }

  static void end(std::unique_ptr<Subject>& client, Ending how) {
    switch (how) {
      case Ending::destroy: break;
      case Ending::close: (*client)->close(20ms); break;
      case Ending::close_then_destroy_inside: return end_inside(client);
      case Ending::disconnect: (*client)->disconnect(); break;
      case Ending::twice:
        (*client)->disconnect();
        (*client)->close(0ms);
        (*client)->close(20ms);
        break;
    }
    client.reset();
  }

  /// Destroyed on its own thread, by the completion of an operation.
  static void end_inside(std::unique_ptr<Subject>& client) {
    Monitor<bool> done;
    (*client)->async_wait_writable([&](error_code) {
      client.reset();
      done.change([](bool& d) { d = true; });
    });
    EXPECT_TRUE(done.await([](bool d) { return d; }));
  }

  /// Makes a client, brings it into a state by `prepare` and ends it; 50 times.
  template <typename Prepare>
  void repeat(const char* state, Prepare prepare) {
    Watchdog watchdog;
    const int count = iterations(50);
    for (int i = 0; i < count && !HasFailure(); ++i) {
      watchdog.step(std::string(state) + ", number " + std::to_string(i));
      auto client = prepare();
      end(client, static_cast<Ending>(i % endings));
    }
  }

  static constexpr std::uint32_t unanswered = 77;

  std::mutex mutex_;
  std::vector<Responder> owed_;
  Listener listener_;
  Endpoint server_;
};

INSTANTIATE_TEST_SUITE_P(Clients,
                         ClientLifecycleTest,
                         testing::Values(false, true),
                         [](const auto& test) {
                           return std::string(test.param ? "cable" : "single");
                         });

TEST_P(ClientLifecycleTest, unconnected) {
  repeat("unconnected", [&] { return make(server_); });
}

TEST_P(ClientLifecycleTest, resolving) {
  repeat("resolving", [&] {
    auto client = std::make_unique<Subject>(cable(), "localhost", server_.port(), options());
    (*client)->start();
    return client;
  });
}

TEST_P(ClientLifecycleTest, connecting) {
  FullServer full;
  repeat("connecting", [&] {
    auto client = make(full.endpoint());
    (*client)->start();
    EXPECT_TRUE(await_true([&] { return (*client)->state() == ConnectionState::connecting; }));
    return client;
  });
}

TEST_P(ClientLifecycleTest, negotiating) {
  SilentServer silent;
  repeat("negotiating", [&] {
    auto client = make(silent.endpoint());
    (*client)->start();
    EXPECT_TRUE(await_true([&] { return (*client)->state() == ConnectionState::negotiating; }));
    return client;
  });
}

TEST_P(ClientLifecycleTest, connected) {
  repeat("connected", [&] { return make_connected(); });
}

TEST_P(ClientLifecycleTest, on_the_way_to_connected) {
  repeat("on the way", [&] {
    auto client = make(server_);
    (*client)->start();
    return client;
  });
}

TEST_P(ClientLifecycleTest, four_threads_send) {
  std::atomic<int> sent{0};
  repeat("four threads send", [&] {
    auto client = make_connected();
    Crowd senders;
    const int before = sent;
    senders.run(4, [&] {
      error_code ec;
      (*client)->async_send(1, as_bytes("message"), ec);
      ++sent;
      return ec != Errc::closed;
    });
    EXPECT_TRUE(await_true([&] { return sent > before + 100; }));
    (*client)->close(20ms);
    // They stop because sending fails, not because they are told.
    senders.join();
    return client;
  });
}

TEST_P(ClientLifecycleTest, requests_in_flight) {
  constexpr int per_client = 8;
  std::atomic<int> ended{0};
  int made = 0;
  repeat("requests in flight", [&] {
    auto client = make_connected();
    for (int i = 0; i < per_client; ++i, ++made) {
      (*client)->async_request(
          unanswered, as_bytes("question"), patience, [&](error_code ec, const Bytes&) {
            EXPECT_TRUE(ec == Errc::disconnected || ec == Errc::closed) << ec.message();
            ++ended;
          });
    }
    return client;
  });
  EXPECT_TRUE(await_true([&] { return ended == made; }));
}

TEST_P(ClientLifecycleTest, threads_wait_for_replies) {
  repeat("threads wait for replies", [&] {
    auto client = make_connected();
    Crowd callers;
    std::atomic<int> begun{0};
    callers.run(4, [&] {
      error_code ec;
      ++begun;
      (*client)->sync_send(unanswered, as_bytes("question"), patience * 3, ec);
      EXPECT_TRUE(ec == Errc::disconnected || ec == Errc::closed) << ec.message();
      return false;
    });
    EXPECT_TRUE(await_true([&] { return begun == 4; }));
    (*client)->close(0ms);
    callers.join();
    return client;
  });
}

TEST_P(ClientLifecycleTest, waiting_to_retry) {
  ClosedPort closed;
  ClientOptions o = options();
  o.reconnect.enabled = true;
  o.reconnect.base = o.reconnect.cap = 100s;
  repeat("waiting to retry", [&] {
    auto client = make(closed.endpoint(), o);
    (*client)->start();
    EXPECT_TRUE(
        await_true([&] { return (*client)->state() == ConnectionState::waiting_to_retry; }));
    return client;
  });
}

TEST_P(ClientLifecycleTest, peer_does_not_read) {
  FaultProxy proxy(server_);
  // Behind the hello and its repetition.
  proxy.set_plan({.up = {.cut = Cut::stall, .cut_after = 4000}});
  ClientOptions o = options();
  o.queue.high_water_mark = 64 * 1024;
  o.queue.when_full = OverflowPolicy::fail;
  o.socket.send_buffer_bytes = 4096;
  const Bytes payload(8 * 1024);
  repeat("peer does not read", [&] {
    auto client = make(proxy.endpoint(), o);
    (*client)->connect(patience);
    error_code ec;
    while (ec != Errc::would_block) (*client)->async_send(1, payload, ec);
    return client;
  });
}

TEST_P(ClientLifecycleTest, senders_wait_for_room) {
  FaultProxy proxy(server_);
  proxy.set_plan({.up = {.cut = Cut::stall, .cut_after = 4000}});
  ClientOptions o = options();
  o.queue.high_water_mark = 64 * 1024;
  o.socket.send_buffer_bytes = 4096;
  const Bytes payload(8 * 1024);
  repeat("senders wait for room", [&] {
    auto client = make(proxy.endpoint(), o);
    (*client)->connect(patience);
    Crowd senders;
    senders.run(2, [&] {
      error_code ec;
      (*client)->async_send(1, payload, ec);
      return !ec;
    });
    EXPECT_TRUE(await_true([&] { return (*client)->statistics().bytes_queued >= 56 * 1024; }));
    (*client)->close(1ms);
    senders.join();
    return client;
  });
}

TEST_P(ClientLifecycleTest, during_reconnect) {
  FaultProxy proxy(server_);
  proxy.set_planner([random = std::mt19937(4711)](std::size_t index) mutable {
    const Cut how = index % 2 == 0 ? Cut::reset : Cut::close;
    return FaultPlan{.up = {.cut = how, .cut_after = random() % 400},
                     .down = {.cut = how, .cut_after = random() % 200}};
  });
  ClientOptions o = options();
  o.reconnect.enabled = true;
  std::mt19937 random(815);
  repeat("during reconnect", [&] {
    auto client = make(proxy.endpoint(), o);
    const std::size_t enough = proxy.accepted() + 1 + random() % 8;
    (*client)->start();
    EXPECT_TRUE(await_true([&] {
      error_code ignored;
      (*client)->async_send(1, as_bytes("message"), ignored);
      return proxy.accepted() >= enough;
    }));
    return client;
  });
}

TEST_P(ClientLifecycleTest, threads_connect_disconnect_and_close) {
  repeat("threads connect, disconnect and close", [&] {
    auto client = make(server_);
    Crowd crowd;
    std::atomic<int> turns{0};
    crowd.run(2, [&] {
      error_code ec;
      (*client)->connect(patience, ec);
      ++turns;
      return ec != Errc::closed;
    });
    crowd.run(1, [&] {
      (*client)->disconnect();
      error_code ec;
      (*client)->flush(20ms, ec);
      return (*client)->state() != ConnectionState::closed;
    });
    crowd.run(1, [&] {
      if (turns < 5) return true;
      (*client)->close(20ms);
      return false;
    });
    crowd.join();
    return client;
  });
}

}  // namespace
}  // namespace ntcpmsg::test
