// Every message and every request has exactly one ending, whatever happens to the connections.

#include <boost/asio/buffer.hpp>
#include <charconv>
#include <map>
#include <random>
#include <set>

#include "lifecycle.hpp"

namespace ntcpmsg::test {
namespace {

constexpr std::uint32_t message_event = 1;
constexpr std::uint32_t request_event = 2;
constexpr std::uint32_t push_event = 3;
constexpr int senders = 3;
constexpr std::size_t message_size = 500;
// What can be under way on one connection when it is cut: the buffers of two sockets on either side
// of the proxy, each twice as large as asked for, and the proxy's own.
constexpr int buffer_bytes = 16 * 1024;
constexpr std::size_t most_lost_per_cut = 10 * buffer_bytes / message_size;

/// Numbers that arrived over one way; a number is "<sender> <count> <filling>".
struct Arrivals {
  std::map<int, std::set<int>> numbers;
  /// The last one by session and sender. A session's order is its own: what is still under way on a
  /// lost connection may arrive behind what its successor brings.
  std::map<std::pair<std::uint64_t, int>, int> last;
  std::size_t count = 0;
  int twice = 0;
  int out_of_order = 0;

  void add(std::uint64_t session, std::string_view text) {
    int sender = 0;
    int number = 0;
    const char* const end = text.data() + text.size();
    const char* const blank = std::from_chars(text.data(), end, sender).ptr;
    std::from_chars(blank + 1, end, number);
    auto& before = last.try_emplace({session, sender}, -1).first->second;
    if (std::exchange(before, number) >= number) ++out_of_order;
    if (!numbers[sender].insert(number).second) ++twice;
    ++count;
  }
};

std::string numbered(int sender, int number) {
  std::string text = std::to_string(sender) + ' ' + std::to_string(number) + ' ';
  text.resize(message_size - 16, '.');
  return text;
}

struct Endings {
  int begun = 0;
  int answered = 0;
  int failed = 0;
  int wrong = 0;
  std::vector<int> per_request;
};

struct Accounts {
  Arrivals messages;
  Arrivals requests;
  Arrivals pushes;
  std::uint64_t unsent_messages = 0;
  std::uint64_t unsent_pushes = 0;
  Endings requests_ended;
  std::size_t sessions_begun = 0;
  std::size_t sessions_ended = 0;
};

class AccountingTest : public testing::TestWithParam<std::tuple<bool, OfflinePolicy>> {
 protected:
  AccountingTest() {
    listener_.on_accepted(
        [this](const auto&) { accounts_.change([](Accounts& a) { ++a.sessions_begun; }); });
    listener_.on_disconnected(
        [this](const auto&) { accounts_.change([](Accounts& a) { ++a.sessions_ended; }); });
    listener_.on_received([this](Message& message) {
      accounts_.change([&](Accounts& a) {
        (message.event() == request_event ? a.requests : a.messages)
            .add(message.session().id(), message.text());
      });
      error_code ignored;
      if (message.wants_reply()) message.reply(message.payload(), ignored);
    });
    listener_.on_error([this](const ErrorEvent& error) {
      EXPECT_EQ(error.code, Errc::messages_unsent) << error.code.message();
      // Replies are among them.
      accounts_.change([&](Accounts& a) { a.unsent_pushes += error.count; });
    });
    proxy_.emplace(listener_.listen(loopback()), planner());
    make_client();
  }

  static FaultProxy::Planner planner() {
    return [random = std::mt19937(20'24)](std::size_t) mutable {
      const auto flow = [&]() -> FlowFault {
        constexpr Cut cuts[] = {Cut::reset, Cut::close, Cut::half_close};
        return {.cut = cuts[random() % 3], .cut_after = 100 + random() % 40'000};
      };
      return FaultPlan{.up = flow(), .down = flow(), .buffer_bytes = buffer_bytes};
    };
  }

  void make_client() {
    ClientOptions o;
    o.reconnect.enabled = true;
    o.reconnect.base = o.reconnect.cap = 2ms;
    o.queue.high_water_mark = 64 * 1024;
    o.queue.when_full = OverflowPolicy::fail;
    o.socket.send_buffer_bytes = buffer_bytes;
    o.offline = std::get<1>(GetParam());
    client_ = std::make_unique<Subject>(std::get<0>(GetParam()), proxy_->endpoint(), o);
    (*client_)->on_received([this](Message& message) {
      accounts_.change([&](Accounts& a) { a.pushes.add(message.session().id(), message.text()); });
    });
    (*client_)->on_error([this](const ErrorEvent& error) {
      EXPECT_EQ(error.code, Errc::messages_unsent) << error.code.message();
      accounts_.change([&](Accounts& a) { a.unsent_messages += error.count; });
    });
  }

  void start_senders(Crowd& crowd) {
    for (int sender = 0; sender < senders; ++sender) {
      crowd.run(1, [this, sender, number = 0]() mutable {
        error_code ec;
        (*client_)->async_send(message_event, as_bytes(numbered(sender, number++)), ec);
        accepted_ += ec ? 0 : 1;
        return true;
      });
    }
    crowd.run(1, [this, number = 0]() mutable {
      pushed_ += push_to_all(numbered(0, number++));
      return true;
    });
  }

  std::size_t push_to_all(const std::string& text) {
    if (!std::get<0>(GetParam())) return listener_.broadcast(push_event, as_bytes(text));
    // Not by broadcast, which reaches a connection that has yet to say that it joins a cable. Of
    // two cables the older is about to end.
    const auto cables = listener_.cable_ids();
    error_code ec;
    if (!cables.empty()) listener_.push(cables.back(), push_event, as_bytes(text), ec);
    return !cables.empty() && !ec ? 1 : 0;
  }

  void start_requesters(Crowd& crowd) {
    crowd.run(1, [this, number = 0]() mutable {
      request(number++);
      return accounts_.await([](const Accounts& a) {
        const Endings& e = a.requests_ended;
        return e.begun - e.answered - e.failed < 20;
      });
    });
    crowd.run(2, [this, number = std::make_shared<std::atomic<int>>(0)] {
      const std::string text = numbered(1, (*number)++);
      error_code ec;
      const Bytes reply = (*client_)->sync_send(request_event, as_bytes(text), patience, ec);
      EXPECT_TRUE(ec || as_text(reply) == text);
      EXPECT_NE(ec, Errc::timed_out);
      return true;
    });
  }

  void request(int number) {
    accounts_.change([](Accounts& a) {
      ++a.requests_ended.begun;
      a.requests_ended.per_request.push_back(0);
    });
    (*client_)->async_request(request_event,
                              as_bytes(numbered(0, number)),
                              patience,
                              [this, number](error_code ec, const Bytes& reply) {
                                EXPECT_NE(ec, Errc::timed_out);
                                accounts_.change([&](Accounts& a) {
                                  Endings& e = a.requests_ended;
                                  ++(ec ? e.failed : e.answered);
                                  ++e.per_request[static_cast<std::size_t>(number)];
                                  if (!ec && as_text(reply) != numbered(0, number)) ++e.wrong;
                                });
                              });
  }

  /// Traffic until enough connections were cut, then an orderly end.
  void run() {
    Watchdog watchdog(std::chrono::seconds(60));
    (*client_)->start();
    const auto enough = static_cast<std::size_t>(iterations(300));
    {
      Crowd crowd;
      start_senders(crowd);
      start_requesters(crowd);
      EXPECT_TRUE(await_true([&] { return proxy_->cuts() >= enough; }, 50s));
      // No more cuts but of those there are, so that the senders' last messages arrive.
      proxy_->set_plan({});
      proxy_->cut_all(Cut::reset);
    }
    (*client_)->close(patience);
    EXPECT_TRUE(
        accounts_.await([](const Accounts& a) { return a.sessions_begun == a.sessions_ended; }));
    listener_.close(patience);
  }

  Monitor<Accounts> accounts_;
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> pushed_{0};
  Listener listener_;
  std::optional<FaultProxy> proxy_;
  std::unique_ptr<Subject> client_;
};

void expect_balance(const char* what,
                    std::uint64_t accepted,
                    std::uint64_t arrived,
                    std::uint64_t unsent,
                    std::size_t cuts) {
  EXPECT_GT(arrived, 0U) << what;
  EXPECT_GE(accepted, arrived + unsent) << what;
  EXPECT_LE(accepted - arrived - unsent, cuts * most_lost_per_cut) << what;
  std::printf("%s: %llu accepted, %llu arrived, %llu unsent, %lld lost in %zu cuts\n",
              what,
              static_cast<unsigned long long>(accepted),
              static_cast<unsigned long long>(arrived),
              static_cast<unsigned long long>(unsent),
              static_cast<long long>(accepted - arrived - unsent),
              cuts);
}

TEST_P(AccountingTest, every_send_has_exactly_one_ending) {
  run();
  const Accounts a = accounts_.get();
  const std::size_t cuts = proxy_->cuts();
  expect_balance("messages", accepted_, a.messages.count, a.unsent_messages, cuts);
  EXPECT_EQ((*client_)->statistics().messages_unsent, a.unsent_messages);
  // Replies that could not leave are counted with the pushes, so this is only one side.
  expect_balance("pushes", pushed_, a.pushes.count, 0, 2 * cuts);
  EXPECT_EQ(a.messages.twice, 0);
  EXPECT_EQ(a.requests.twice, 0);
  EXPECT_EQ(a.pushes.twice, 0);
  if (!std::get<0>(GetParam())) {
    EXPECT_EQ(a.messages.out_of_order, 0);
    EXPECT_EQ(a.pushes.out_of_order, 0);
  }
  const Endings& e = a.requests_ended;
  EXPECT_GT(e.answered, 0);
  EXPECT_GT(e.failed, 0);
  EXPECT_EQ(e.wrong, 0);
  for (const int count : e.per_request) ASSERT_EQ(count, 1);
}

std::string name_of(const testing::TestParamInfo<AccountingTest::ParamType>& test) {
  const auto [cable, offline] = test.param;
  return std::string(cable ? "cable" : "single") +
         (offline == OfflinePolicy::queue ? "_queues_offline" : "_fails_offline");
}

INSTANTIATE_TEST_SUITE_P(
    Clients,
    AccountingTest,
    testing::Combine(testing::Bool(), testing::Values(OfflinePolicy::fail, OfflinePolicy::queue)),
    name_of);

}  // namespace
}  // namespace ntcpmsg::test
