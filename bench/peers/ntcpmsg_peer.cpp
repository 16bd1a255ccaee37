// This library: `Listener` on one side, `SingleConnection` or `SingleConnectionCable` on the other.

#include <atomic>
#include <deque>
#include <ntcpmsg/ntcpmsg.hpp>
#include <semaphore>

#include "harness/peer.hpp"

namespace {

using namespace std::chrono_literals;
using bench::Pattern;
using bench::Work;

constexpr std::uint32_t bulk_event = 1;
constexpr std::uint32_t echo_event = 2;

class Server final : public bench::ServerPeer {
 public:
  std::uint16_t listen(const Work& work) override {
    ntcpmsg::ListenerOptions options;
    options.socket.congestion_control = work.congestion;
    listener_ = std::make_unique<ntcpmsg::Listener>(options);
    listener_->on_received([this](ntcpmsg::Message& message) {
      if (message.wants_reply()) return message.reply(message.payload());
      // Only this thread writes.
      received_.store(received_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    });
    listener_->on_accepted([this](ntcpmsg::SessionHandle) { clients_.fetch_add(1); });
    return listener_->listen({boost::asio::ip::make_address(work.host), 0}).port();
  }

  std::uint64_t received() const override { return received_.load(std::memory_order_relaxed); }
  std::size_t clients() const override { return clients_.load(); }
  void publish(std::span<const std::byte> payload) override {
    listener_->broadcast(bulk_event, payload);
  }

 private:
  std::unique_ptr<ntcpmsg::Listener> listener_;
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::size_t> clients_{0};
};

class Client final : public bench::ClientPeer {
 public:
  void connect(const Work& work) override {
    work_ = work;
    payload_ = bench::make_payload(work.size);
    ntcpmsg::ClientOptions options;
    options.socket.congestion_control = work.congestion;
    // All on one thread, as a program with many connections has it.
    options.io_threads = std::make_shared<ntcpmsg::IoThreads>(1);
    for (std::size_t i = 0; i < work.connections; ++i) {
      if (work.links == 0) {
        clients_.push_back(
            std::make_shared<ntcpmsg::SingleConnection>(work.host, work.port, options));
      } else {
        clients_.push_back(std::make_shared<ntcpmsg::SingleConnectionCable>(
            work.host, work.port, work.links, options));
      }
      clients_.back()->on_received([this](ntcpmsg::Message&) {
        delivered_.store(delivered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      });
    }
    for (auto& client : clients_) client->connect(10s);
  }

  std::uint64_t send_until(const bench::Stop& stop, std::size_t) override {
    ntcpmsg::MessageClient& client = *clients_.front();
    const ntcpmsg::BytesView payload(payload_);
    std::uint64_t sent = 0;
    for (; !stop.load(std::memory_order_relaxed); ++sent) client.async_send(bulk_event, payload);
    return sent;
  }

  void flush() override { clients_.front()->flush(60s); }

  void round_trip(std::span<const std::byte> bytes, std::size_t) override {
    thread_local ntcpmsg::Bytes reply;
    clients_.front()->sync_send(echo_event, bytes, reply, 10s);
  }

  std::uint64_t echo_until(const bench::Stop& stop, bench::LatencyHistogram& latency) override {
    std::deque<Window> windows;
    for (auto& client : clients_) {
      // Only one thread may record.
      windows.emplace_back(stop, windows.empty() ? &latency : nullptr, work_.window);
      for (std::size_t i = 0; i < work_.window; ++i) request(*client, windows.back(), false);
    }
    std::uint64_t round_trips = 0;
    for (Window& window : windows) {
      window.done.acquire();
      round_trips += window.round_trips;
    }
    return round_trips;
  }

  std::uint64_t delivered() const override { return delivered_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t timed_every = 64;

  /// Of one client; for its I/O thread only until `done`.
  struct Window {
    Window(const bench::Stop& until, bench::LatencyHistogram* histogram, std::size_t size)
        : stop(until), latency(histogram), in_flight(size) {}

    const bench::Stop& stop;
    bench::LatencyHistogram* latency;
    std::size_t in_flight;
    std::uint64_t round_trips = 0;
    std::binary_semaphore done{0};
  };

  void request(ntcpmsg::MessageClient& client, Window& window, bool timed) {
    const auto begin = timed ? Clock::now() : Clock::time_point{};
    client.async_request<ntcpmsg::BytesView>(
        echo_event,
        payload_,
        10s,
        [this, &client, &window, begin](ntcpmsg::error_code ec, ntcpmsg::BytesView) {
          if (ec) throw ntcpmsg::system_error(ec);
          if (begin != Clock::time_point{}) {
            window.latency->record(static_cast<std::uint64_t>((Clock::now() - begin).count()));
          }
          ++window.round_trips;
          if (!window.stop.load(std::memory_order_relaxed)) {
            const bool next = window.latency != nullptr && window.round_trips % timed_every == 0;
            return request(client, window, next);
          }
          if (--window.in_flight == 0) window.done.release();
        });
  }

  Work work_;
  std::vector<std::byte> payload_;
  std::vector<std::shared_ptr<ntcpmsg::MessageClient>> clients_;
  std::atomic<std::uint64_t> delivered_{0};
};

}  // namespace

int main(int argc, char** argv) {
  return bench::bench_main(argc,
                           argv,
                           {"ntcpmsg",
                            [] { return std::make_unique<Server>(); },
                            [] { return std::make_unique<Client>(); }});
}
