// Clients and a listener on the same I/O threads, let go of in any order and anywhere.

#include <boost/asio/post.hpp>
#include <future>
#include <numeric>

#include "lifecycle.hpp"
#include "ntcpmsg/io_threads.hpp"

namespace ntcpmsg::test {
namespace {

/// Everything on one IoThreads object.
struct Ensemble {
  explicit Ensemble(std::size_t thread_count) : threads(std::make_shared<IoThreads>(thread_count)) {
    ListenerOptions listener_options;
    listener_options.io_threads = threads;
    listener_options.close_timeout = 50ms;
    listener = std::make_unique<Listener>(listener_options);
    listener->on_received([](Message& message) {
      error_code ignored;
      message.session().push(1, message.payload(), ignored);
    });
    endpoint = listener->listen(loopback());
    for (int i = 0; i < 3; ++i) {
      ClientOptions options;
      options.io_threads = threads;
      options.close_timeout = 50ms;
      clients.push_back(std::make_unique<Subject>(i == 2, endpoint, options));
    }
  }

  void connect() {
    for (auto& client : clients) {
      (*client)->connect(patience);
      (*client)->async_send(1, as_bytes("message"));
    }
  }

  /// 0: the threads, 1: the listener, 2 to 4: the clients.
  void let_go_of(std::size_t part) {
    if (part == 0) threads.reset();
    if (part == 1) listener.reset();
    if (part >= 2) clients[part - 2].reset();
  }

  std::shared_ptr<IoThreads> threads;
  std::unique_ptr<Listener> listener;
  Endpoint endpoint;
  std::vector<std::unique_ptr<Subject>> clients;
};

constexpr std::size_t parts = 5;

class SharedThreadsTest : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Threads, SharedThreadsTest, testing::Values(1U, 2U), [](const auto& test) {
  return std::to_string(test.param);
});

TEST_P(SharedThreadsTest, any_order_of_destruction) {
  Watchdog watchdog;
  std::vector<std::size_t> order(parts);
  std::iota(order.begin(), order.end(), 0);
  const int stride = 100 / iterations(100);
  int number = 0;
  do {
    if (number++ % stride != 0) continue;
    std::string text = "order";
    for (const auto part : order) text += ' ' + std::to_string(part);
    watchdog.step(text);
    Ensemble ensemble(GetParam());
    ensemble.connect();
    for (const auto part : order) ensemble.let_go_of(part);
  } while (std::next_permutation(order.begin(), order.end()) && !HasFailure());
}

// One handler lets go of everything, its own client included; so the threads end themselves.
TEST_P(SharedThreadsTest, all_at_once_inside_a_handler) {
  Watchdog watchdog;
  const int count = iterations(40);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    watchdog.step("number " + std::to_string(i));
    // With several threads the others' objects are destroyed as from any foreign thread.
    Ensemble ensemble(GetParam());
    ensemble.connect();
    Monitor<bool> done;
    (*ensemble.clients[0])->on_received([&](Message&) {
      for (std::size_t n = 0; n < parts; ++n) {
        ensemble.let_go_of((n + static_cast<std::size_t>(i)) % parts);
      }
      done.change([](bool& d) { d = true; });
    });
    (*ensemble.clients[0])->async_send(1, as_bytes("message"));
    EXPECT_TRUE(done.await([](bool d) { return d; }));
  }
}

TEST_P(SharedThreadsTest, the_last_owner_is_a_function_on_a_thread) {
  const int count = iterations(40);
  for (int i = 0; i < count; ++i) {
    auto threads = std::make_shared<IoThreads>(GetParam());
    std::promise<std::shared_ptr<IoThreads>> handover;
    std::promise<void> done;
    boost::asio::post(threads->context(static_cast<std::size_t>(i)), [&] {
      auto owner = handover.get_future().get();
      EXPECT_TRUE(owner->running_in_this_thread());
      owner.reset();
      done.set_value();
    });
    // Not before `post` has returned: it still uses the loop.
    handover.set_value(std::move(threads));
    EXPECT_EQ(done.get_future().wait_for(patience), std::future_status::ready);
  }
}

TEST_P(SharedThreadsTest, destruction_while_clients_are_on_their_way) {
  Watchdog watchdog;
  const int count = iterations(60);
  for (int i = 0; i < count; ++i) {
    watchdog.step("number " + std::to_string(i));
    Ensemble ensemble(GetParam());
    for (auto& client : ensemble.clients) (*client)->start();
    for (std::size_t n = 0; n < parts; ++n) {
      ensemble.let_go_of((n + static_cast<std::size_t>(i)) % parts);
    }
  }
}

// A handler of somebody else holds the thread, so that the listener's destructor gives up waiting.
TEST(BusyThreadTest, a_listener_may_be_gone_before_its_thread_has_time_for_it) {
  auto threads = std::make_shared<IoThreads>(1);
  ListenerOptions options;
  options.io_threads = threads;
  options.close_timeout = 0ms;
  auto listener = std::make_unique<Listener>(options);
  listener->on_accepted([](const SessionHandle&) { ADD_FAILURE() << "the listener is gone"; });
  const Endpoint endpoint = listener->listen(loopback());

  std::promise<void> busy;
  std::promise<void> free;
  boost::asio::post(threads->context(0), [&] {
    busy.set_value();
    free.get_future().wait();
  });
  busy.get_future().wait();
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  socket.connect(endpoint);
  listener.reset();
  free.set_value();
  // Whatever was queued for the listener has been done when this is.
  std::promise<void> done;
  boost::asio::post(threads->context(0), [&] { done.set_value(); });
  done.get_future().wait();
  error_code ec;
  char byte = 0;
  socket.read_some(boost::asio::buffer(&byte, 1), ec);
  EXPECT_TRUE(ec);
}

TEST(BusyThreadTest, a_client_may_be_gone_before_its_thread_has_time_for_it) {
  Listener server;
  auto threads = std::make_shared<IoThreads>(1);
  ClientOptions options;
  options.io_threads = threads;
  options.close_timeout = 0ms;
  auto client = std::make_unique<SingleConnection>(server.listen(loopback()), options);
  client->on_received([](Message&) { ADD_FAILURE() << "the client is gone"; });
  client->on_disconnected([](error_code) { ADD_FAILURE() << "the client is gone"; });
  client->connect(patience);
  std::promise<void> busy;
  std::promise<void> free;
  boost::asio::post(threads->context(0), [&] {
    busy.set_value();
    free.get_future().wait();
  });
  busy.get_future().wait();
  EXPECT_EQ(server.broadcast(1, as_bytes("push")), 1U);
  client.reset();
  free.set_value();
  EXPECT_TRUE(await_true([&] { return server.sessions().empty(); }));
}

}  // namespace
}  // namespace ntcpmsg::test
