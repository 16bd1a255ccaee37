// Handlers that are replaced while they run and while others call them, and completion handlers
// that do what handlers of events may do.

#include <optional>

#include "fault_support.hpp"

namespace ntcpmsg::test {
namespace {

struct Counts {
  int first = 0;
  int second = 0;
  int errors = 0;
  std::string text;
};

class HandlerChangeTest : public testing::Test {
 protected:
  HandlerChangeTest() {
    server_.on_received([](Message& message) {
      if (message.wants_reply()) message.reply(message.payload());
      error_code ignored;
      message.session().push(1, message.payload(), ignored);
    });
    endpoint_ = server_.listen(loopback());
  }

  Monitor<Counts> counts_;
  Listener server_;
  Endpoint endpoint_;
};

TEST_F(HandlerChangeTest, a_handler_replaces_itself_and_goes_on) {
  SingleConnection client(endpoint_);
  client.on_received([&, text = std::string("of the first handler")](Message&) {
    client.on_received([&](Message&) { counts_.change([](Counts& c) { ++c.second; }); });
    // What was captured is alive until the handler returns.
    counts_.change([&](Counts& c) {
      ++c.first;
      c.text = text;
    });
  });
  client.connect(patience);
  for (int i = 0; i < 5; ++i) client.async_send(1, as_bytes("x"));
  EXPECT_TRUE(counts_.await([](const Counts& c) { return c.first == 1 && c.second == 4; }));
  EXPECT_EQ(counts_.get().text, "of the first handler");
}

TEST_F(HandlerChangeTest, every_handler_replaces_every_other) {
  std::optional<SingleConnection> client;
  const auto replace = [&] {
    client->on_connected({});
    client->on_received([&](Message&) { counts_.change([](Counts& c) { ++c.second; }); });
    client->on_disconnected([&](error_code) { counts_.change([](Counts& c) { ++c.first; }); });
    client->on_error({});
    client->on_writable({});
  };
  for (int event = 0; event < 4; ++event) {
    counts_.change([](Counts& c) { c = {}; });
    client.emplace(endpoint_);
    client->on_connected([&] { event == 0 ? replace() : void(); });
    client->on_received([&](Message&) { event == 1 ? replace() : throw std::runtime_error("x"); });
    client->on_error([&](const ErrorEvent&) { event == 2 ? replace() : void(); });
    client->on_disconnected([&](error_code) {
      if (event == 3) replace();
      counts_.change([](Counts& c) { ++c.first; });
    });
    client->connect(patience);
    for (int i = 0; i < 3; ++i) client->async_send(1, as_bytes("x"));
    if (event < 3) {
      EXPECT_TRUE(counts_.await([](const Counts& c) { return c.second >= 2; }));
    }
    client->disconnect();
    EXPECT_TRUE(counts_.await([](const Counts& c) { return c.first == 1; }));
    client.reset();
  }
}

TEST_F(HandlerChangeTest, threads_replace_handlers_during_traffic) {
  SingleConnection client(endpoint_);
  client.connect(patience);
  std::atomic<bool> done{false};
  const auto handler_of = [&](std::string text) {
    return [&, copy = std::make_shared<std::string>(std::move(text))](Message&) {
      counts_.change([&](Counts& c) { c.first += copy->empty() ? 0 : 1; });
    };
  };
  client.on_received(handler_of("first"));
  std::vector<std::thread> changers;
  for (int i = 0; i < 2; ++i) {
    changers.emplace_back([&] {
      for (int n = 0; !done; ++n) {
        client.on_received(handler_of(std::to_string(n)));
        client.on_writable([] {});
        server_.on_accepted([n](const SessionHandle&) { return n; });
        std::this_thread::yield();
      }
    });
  }
  const int messages = iterations(2000);
  for (int i = 0; i < messages; ++i) client.async_send(1, as_bytes("x"));
  EXPECT_TRUE(counts_.await([&](const Counts& c) { return c.first == messages; }));
  done = true;
  for (auto& thread : changers) thread.join();
}

TEST_F(HandlerChangeTest, completion_handlers_may_throw) {
  SingleConnection client(endpoint_);
  client.on_error([&](const ErrorEvent& error) {
    counts_.change([&](Counts& c) {
      EXPECT_EQ(error.code, Errc::handler_threw);
      EXPECT_EQ(error.text, "thrown by a completion");
      ++c.errors;
    });
  });
  const auto fail = [](auto&&...) { throw std::runtime_error("thrown by a completion"); };
  client.async_connect(patience, fail);
  EXPECT_TRUE(counts_.await([](const Counts& c) { return c.errors == 1; }));
  client.async_request(1, as_bytes("x"), patience, fail);
  EXPECT_TRUE(counts_.await([](const Counts& c) { return c.errors == 2; }));
  client.async_wait_writable(fail);
  EXPECT_TRUE(counts_.await([](const Counts& c) { return c.errors == 3; }));
  EXPECT_EQ(as_text(client.sync_send(1, as_bytes("still there?"), patience)), "still there?");
}

TEST_F(HandlerChangeTest, a_completion_handler_of_connect_or_room_may_destroy_the_client) {
  for (const bool connecting : {true, false}) {
    counts_.change([](Counts& c) { c = {}; });
    auto client = std::make_unique<SingleConnection>(endpoint_);
    const auto destroy = [&](error_code) {
      client.reset();
      counts_.change([](Counts& c) { ++c.first; });
    };
    if (connecting) {
      client->async_connect(patience, destroy);
    } else {
      client->connect(patience);
      client->async_wait_writable(destroy);
    }
    EXPECT_TRUE(counts_.await([](const Counts& c) { return c.first == 1; }));
  }
}

TEST_F(HandlerChangeTest, a_completion_handler_of_a_request_may_destroy_the_client) {
  for (int position = 0; position < 4; ++position) {
    counts_.change([](Counts& c) { c = {}; });
    auto client = std::make_unique<SingleConnection>(endpoint_);
    client->on_connected([&, position] {
      // Inside a handler, so that all are in flight when the first is answered.
      for (int i = 0; i < 4; ++i) {
        client->async_request(1, as_bytes("x"), patience, [&, i, position](error_code, Bytes) {
          if (i == position) client.reset();
          counts_.change([](Counts& c) { ++c.first; });
        });
      }
    });
    client->start();
    EXPECT_TRUE(counts_.await([](const Counts& c) { return c.first == 4; }));
  }
}

TEST_F(HandlerChangeTest, a_request_whose_handler_destroys_the_listener_still_ends) {
  auto server = std::make_unique<Listener>();
  server->on_received([&](Message& message) {
    server.reset();
    message.reply(as_bytes("last words"));
  });
  SingleConnection client(server->listen(loopback()));
  client.connect(patience);
  error_code ec;
  const Bytes reply = client.sync_send(1, as_bytes("x"), patience, ec);
  // The session closes behind what was queued, so either is right.
  if (!ec) {
    EXPECT_EQ(as_text(reply), "last words");
  } else {
    EXPECT_EQ(ec, Errc::disconnected);
  }
}

}  // namespace
}  // namespace ntcpmsg::test
