// Listeners that are closed, drained and destroyed in every state.

#include "lifecycle.hpp"

namespace ntcpmsg::test {
namespace {

ClientOptions client_options() {
  ClientOptions o;
  o.close_timeout = 20ms;
  o.reconnect.enabled = true;
  o.reconnect.base = 1ms;
  o.reconnect.cap = 2ms;
  return o;
}

class ListenerLifecycleTest : public testing::Test {
 protected:
  static std::unique_ptr<Listener> make(std::size_t threads = 2) {
    ListenerOptions o;
    o.threads = threads;
    o.close_timeout = 20ms;
    return std::make_unique<Listener>(o);
  }

  static void end(std::unique_ptr<Listener>& listener, int how) {
    if (how % 4 == 1) listener->close(20ms);
    if (how % 4 == 2) listener->drain(20ms);
    if (how % 4 == 3) {
      listener->close(0ms);
      listener->close(20ms);
      error_code ec;
      listener->listen(loopback(), ec);
      EXPECT_EQ(ec, Errc::closed);
    }
    listener.reset();
  }

  /// `prepare(listener)` brings a listener into a state and returns what must live until it ended.
  template <typename Prepare>
  void repeat(const char* state, Prepare prepare) {
    Watchdog watchdog;
    const int count = iterations(40);
    for (int i = 0; i < count && !HasFailure(); ++i) {
      watchdog.step(std::string(state) + ", number " + std::to_string(i));
      auto listener = make();
      [[maybe_unused]] const auto companions = prepare(*listener);
      end(listener, i);
    }
  }

  using Clients = std::vector<std::unique_ptr<Subject>>;

  static Clients connect_clients(Listener& listener) {
    const Endpoint server = listener.listen(loopback());
    Clients clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(std::make_unique<Subject>(i == 2, server, client_options()));
      (*clients.back())->connect(patience);
    }
    return clients;
  }
};

TEST_F(ListenerLifecycleTest, not_listening) {
  repeat("not listening", [](Listener&) { return 0; });
}

TEST_F(ListenerLifecycleTest, listening) {
  repeat("listening", [](Listener& listener) { return listener.listen({loopback(), loopback()}); });
}

TEST_F(ListenerLifecycleTest, clients_connected) {
  repeat("clients connected", [](Listener& listener) { return connect_clients(listener); });
}

TEST_F(ListenerLifecycleTest, clients_on_their_way) {
  repeat("clients on their way", [](Listener& listener) {
    const Endpoint server = listener.listen(loopback());
    Clients clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(std::make_unique<Subject>(i == 2, server, client_options()));
      (*clients.back())->start();
    }
    return clients;
  });
}

TEST_F(ListenerLifecycleTest, answers_owed) {
  std::mutex mutex;
  std::vector<Responder> owed;
  repeat("answers owed", [&](Listener& listener) {
    listener.on_received([&](Message& message) {
      const std::lock_guard guard(mutex);
      owed.push_back(message.take_responder());
    });
    auto clients = connect_clients(listener);
    for (auto& client : clients) {
      (*client)->async_request(1, as_bytes("?"), patience, [](error_code, const Bytes&) {});
    }
    return clients;
  });
  // Their sessions are gone.
  for (auto& responder : owed) {
    error_code ec;
    responder.reply({}, ec);
    EXPECT_EQ(ec, Errc::unknown_peer);
  }
}

TEST_F(ListenerLifecycleTest, traffic_both_ways) {
  repeat("traffic both ways", [](Listener& listener) {
    listener.on_received([](Message& message) {
      error_code ignored;
      message.session().push(1, message.payload(), ignored);
    });
    struct Traffic {
      Clients clients;
      // Behind the clients, so that it ends first.
      std::unique_ptr<Crowd> senders = std::make_unique<Crowd>();
    };
    Traffic traffic{connect_clients(listener)};
    for (auto& client : traffic.clients) {
      traffic.senders->run(1, [&subject = *client] {
        error_code ec;
        subject->async_send(1, as_bytes("message"), ec);
        return true;
      });
    }
    return traffic;
  });
}

TEST_F(ListenerLifecycleTest, threads_push_while_it_closes) {
  repeat("threads push", [](Listener& listener) {
    auto clients = connect_clients(listener);
    Crowd crowd;
    crowd.run(2, [&] {
      listener.broadcast(1, as_bytes("to all"));
      for (const auto& session : listener.sessions()) {
        error_code ec;
        session.push(1, as_bytes("to one"), ec);
      }
      return !listener.sessions().empty();
    });
    crowd.run(1, [&] {
      for (const auto& session : listener.sessions()) {
        error_code ec;
        session.sync_push(1, as_bytes("question"), 1s, ec);
        session.close(1ms);
      }
      return !listener.sessions().empty();
    });
    crowd.run(1, [&] {
      listener.close(20ms);
      return false;
    });
    crowd.join();
    return clients;
  });
}

TEST_F(ListenerLifecycleTest, peers_do_not_read) {
  repeat("peers do not read", [](Listener& listener) {
    const Endpoint server = listener.listen(loopback());
    auto context = std::make_unique<boost::asio::io_context>();
    auto socket = std::make_unique<boost::asio::ip::tcp::socket>(*context);
    socket->connect(server);
    EXPECT_TRUE(await_true([&] { return !listener.sessions().empty(); }));
    const Bytes payload(1024 * 1024);
    while (listener.broadcast(1, payload) != 0) {
    }
    return std::pair(std::move(context), std::move(socket));
  });
}

}  // namespace
}  // namespace ntcpmsg::test
