// NATS: the broker nats-server on the server's side, and its C client in both processes. Unlike the
// other peers, every message travels over two connections.

#include <nats/nats.h>

#include <deque>
#include <semaphore>
#include <thread>

#include "peers/default_congestion.hpp"
#include "peers/epoll_set.hpp"
#include "peers/nats_broker.hpp"
#include "peers/nats_subscriber.hpp"
#include "peers/ordered_timer.hpp"
#include "peers/peer_support.hpp"

namespace {

using bench::Pattern;
using bench::Work;

constexpr const char* bulk_subject = "bulk";
constexpr const char* echo_subject = "echo";
constexpr const char* ready_subject = "ready";
constexpr std::int64_t patience_ms = 10'000;

void check(natsStatus status) {
  if (status != NATS_OK)
    throw std::runtime_error(std::string("nats: ") + natsStatus_GetText(status));
}

struct Deleter {
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
  void operator()(natsConnection* connection) const { natsConnection_Destroy(connection); }
  void operator()(natsSubscription* subscription) const { natsSubscription_Destroy(subscription); }
  void operator()(natsMsg* message) const { natsMsg_Destroy(message); }
};
using Options = std::unique_ptr<natsOptions, Deleter>;
using Connection = std::unique_ptr<natsConnection, Deleter>;
using Subscription = std::unique_ptr<natsSubscription, Deleter>;
using Message = std::unique_ptr<natsMsg, Deleter>;

/// `at_once`: every message is written when it is published, as a program does that waits for each
/// answer; else they gather for a millisecond or until the buffer is full.
Connection connect_to_broker(const std::string& host, std::uint16_t port, bool at_once) {
  natsOptions* made_options = nullptr;
  check(natsOptions_Create(&made_options));
  const Options options(made_options);
  const std::string url = "nats://" + host + ":" + std::to_string(port);
  check(natsOptions_SetURL(made_options, url.c_str()));
  check(natsOptions_SetSendAsap(made_options, at_once));
  check(natsOptions_SetAllowReconnect(made_options, false));
  natsConnection* made = nullptr;
  check(natsConnection_Connect(&made, made_options));
  return Connection(made);
}

Subscription subscribe(const Connection& connection,
                       const std::string& subject,
                       natsMsgHandler handler,
                       void* self) {
  natsSubscription* made = nullptr;
  check(natsConnection_Subscribe(&made, connection.get(), subject.c_str(), handler, self));
  Subscription subscription(made);
  // Without that it drops what waits for the handler.
  check(natsSubscription_SetPendingLimits(made, -1, -1));
  check(natsConnection_Flush(connection.get()));
  return subscription;
}

void publish(const Connection& connection,
             const char* subject,
             std::span<const std::byte> payload) {
  check(natsConnection_Publish(
      connection.get(), subject, payload.data(), static_cast<int>(payload.size())));
}

class Server final : public bench::ServerPeer {
 public:
  std::uint16_t listen(const Work& work) override {
    if (work.pattern == Pattern::beside_bulk) {
      throw std::runtime_error("this peer does not do beside-bulk");
    }
    bench::set_default_congestion(work.congestion);
    broker_ = std::make_unique<bench::NatsBroker>(work.host);
    connection_ =
        connect_to_broker(work.host, broker_->port(), work.pattern == Pattern::echo_blocking);
    if (work.pattern == Pattern::fan_out) {
      subscription_ = subscribe(connection_, ready_subject, count<&Server::clients_>, this);
    } else if (work.pattern == Pattern::one_way) {
      subscription_ = subscribe(connection_, bulk_subject, count<&Server::received_>, this);
    } else {
      subscription_ = subscribe(connection_, echo_subject, &Server::echo, this);
    }
    return broker_->port();
  }

  std::uint64_t received() const override { return received_.load(std::memory_order_relaxed); }
  std::size_t clients() const override { return clients_.load(); }
  double other_cpu_seconds() const override { return broker_->cpu_seconds(); }

  void publish(std::span<const std::byte> payload) override {
    ::publish(connection_, bulk_subject, payload);
  }

 private:
  template <auto Counter>
  static void count(natsConnection*, natsSubscription*, natsMsg* made, void* self) {
    const Message message(made);
    (static_cast<Server*>(self)->*Counter).fetch_add(1, std::memory_order_relaxed);
  }

  static void echo(natsConnection* connection, natsSubscription*, natsMsg* made, void*) {
    const Message message(made);
    check(natsConnection_Publish(
        connection, natsMsg_GetReply(made), natsMsg_GetData(made), natsMsg_GetDataLength(made)));
  }

  std::unique_ptr<bench::NatsBroker> broker_;
  Connection connection_;
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> clients_{0};
  Subscription subscription_;
};

/// All requests of one echo_until.
struct EchoRun {
  const bench::Stop& stop;
  std::span<const std::byte> payload;
  std::atomic<std::size_t> in_flight;
  std::atomic<std::uint64_t> round_trips{0};
  std::binary_semaphore done{0};
};

/// A connection with a window of requests, which are answered to one inbox.
class EchoConnection {
 public:
  EchoConnection(const Work& work, std::size_t index)
      : connection_(connect_to_broker(work.host, work.port, false)),
        inbox_("_INBOX.bench." + std::to_string(index)),
        subscription_(subscribe(connection_, inbox_, &EchoConnection::answered, this)) {}

  void start(EchoRun& run, std::size_t window) {
    run_ = &run;
    for (std::size_t i = 0; i < window; ++i) request();
  }
  const bench::LatencyHistogram& latency() const noexcept { return latency_; }

 private:
  void request() {
    timer_.sent();
    check(natsConnection_PublishRequest(connection_.get(),
                                        echo_subject,
                                        inbox_.c_str(),
                                        run_->payload.data(),
                                        static_cast<int>(run_->payload.size())));
  }

  static void answered(natsConnection*, natsSubscription*, natsMsg* made, void* context) {
    const Message message(made);
    auto& self = *static_cast<EchoConnection*>(context);
    EchoRun& run = *self.run_;
    bench::check_reply(static_cast<std::size_t>(natsMsg_GetDataLength(made)), run.payload.size());
    self.timer_.answered();
    run.round_trips.fetch_add(1, std::memory_order_relaxed);
    if (!run.stop.load(std::memory_order_relaxed)) return self.request();
    if (run.in_flight.fetch_sub(1) == 1) run.done.release();
  }

  EchoRun* run_ = nullptr;
  bench::LatencyHistogram latency_;
  bench::OrderedTimer timer_{latency_};
  Connection connection_;
  std::string inbox_;
  Subscription subscription_;
};

class Client final : public bench::ClientPeer {
 public:
  void connect(const Work& work) override {
    work_ = work;
    payload_ = bench::make_payload(work.size);
    bench::set_default_congestion(work.congestion);
    if (work.pattern == Pattern::fan_out) return subscribe_all();
    if (work.pattern == Pattern::echo_window) {
      for (std::size_t i = 0; i < work.connections; ++i) {
        echoes_.push_back(std::make_unique<EchoConnection>(work, i));
      }
      return;
    }
    connection_ = connect_to_broker(work.host, work.port, false);
  }

  /// A full buffer makes publish write, and wait while the broker takes nothing.
  std::uint64_t send_until(const bench::Stop& stop, std::size_t) override {
    std::uint64_t sent = 0;
    for (; !stop.load(std::memory_order_relaxed); ++sent) {
      publish(connection_, bulk_subject, payload_);
    }
    return sent;
  }

  void flush() override { check(natsConnection_FlushTimeout(connection_.get(), patience_ms)); }

  void round_trip(std::span<const std::byte> bytes, std::size_t) override {
    natsMsg* made = nullptr;
    check(natsConnection_Request(&made,
                                 connection_.get(),
                                 echo_subject,
                                 bytes.data(),
                                 static_cast<int>(bytes.size()),
                                 patience_ms));
    const Message reply(made);
    bench::check_reply(static_cast<std::size_t>(natsMsg_GetDataLength(made)), bytes.size());
  }

  std::uint64_t echo_until(const bench::Stop& stop, bench::LatencyHistogram& latency) override {
    EchoRun run{.stop = stop, .payload = payload_, .in_flight = echoes_.size() * work_.window};
    for (auto& echo : echoes_) echo->start(run, work_.window);
    run.done.acquire();
    for (auto& echo : echoes_) latency.merge(echo->latency());
    return run.round_trips;
  }

  std::uint64_t delivered() const override { return delivered_.load(std::memory_order_relaxed); }

 private:
  void subscribe_all() {
    for (std::size_t i = 0; i < work_.connections; ++i) {
      subscribers_.emplace_back(
          bench::RawSocket::connected(work_.host, work_.port, work_.congestion),
          bulk_subject,
          ready_subject,
          work_.size);
    }
    receiver_ = std::thread([this] { receive_rounds(); });
  }

  void receive_rounds() {
    bench::EpollSet epoll;
    for (std::size_t i = 0; i < subscribers_.size(); ++i) {
      epoll.add(subscribers_[i].socket().descriptor(), i);
    }
    std::uint64_t count = 0;
    for (;;) {
      epoll.wait([&](std::size_t i) {
        count += subscribers_[i].receive();
        delivered_.store(count, std::memory_order_relaxed);
      });
    }
  }

  Work work_;
  std::vector<std::byte> payload_;
  Connection connection_;
  std::vector<std::unique_ptr<EchoConnection>> echoes_;
  std::deque<bench::NatsSubscriber> subscribers_;
  std::atomic<std::uint64_t> delivered_{0};
  std::thread receiver_;
};

}  // namespace

int main(int argc, char** argv) { return bench::peer_main<Server, Client>(argc, argv, "nats"); }
