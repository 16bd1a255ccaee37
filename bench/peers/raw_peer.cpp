// The practical limit: blocking sockets, frames with the 16-byte header packed into 64 KiB writes,
// parsed where they were read, and one function call a message. No queue, no errors handled, no
// reconnect: what a library can come close to and not pass.

#include <sys/epoll.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/peer.hpp"
#include "peers/shared_round_trips.hpp"

namespace {

using bench::Pattern;
using bench::RawFrame;
using bench::RawReader;
using bench::RawSocket;
using bench::Work;

constexpr std::size_t batch_bytes = std::size_t{64} * 1024;

/// Frames packed one behind the other.
class Batch {
 public:
  explicit Batch(std::size_t payload_size)
      : frame_size_(bench::raw_header_size + payload_size),
        bytes_(std::max(batch_bytes, std::size_t{512} * 1024) + frame_size_) {}

  void add(std::uint32_t event, std::uint32_t channel, std::span<const std::byte> payload) {
    bench::encode_raw_frame(bytes_.data() + size_, event, channel, payload);
    size_ += frame_size_;
  }
  std::size_t size() const noexcept { return size_; }
  void send(const RawSocket& socket) {
    socket.send_all({bytes_.data(), size_});
    size_ = 0;
  }

 private:
  std::size_t frame_size_;
  std::size_t size_ = 0;
  std::vector<std::byte> bytes_;
};

/// What is called per message, out of the compiler's sight as a user's handler is.
[[gnu::noinline]] void count_message(const RawFrame& frame, std::uint64_t& received) {
  received += frame.event;
}

class Server final : public bench::ServerPeer {
 public:
  std::uint16_t listen(const Work& work) override {
    work_ = work;
    listening_ = RawSocket::listening(work.host, work.congestion);
    acceptor_ = std::thread([this] {
      for (;;) accepted(listening_.accept());
    });
    if (work.pattern == Pattern::fan_out) publisher_ = std::thread([this] { write_rounds(); });
    return listening_.port();
  }

  std::uint64_t received() const override {
    std::uint64_t sum = 0;
    const std::lock_guard guard(mutex_);
    for (const auto& count : received_) sum += count->load(std::memory_order_relaxed);
    return sum;
  }

  std::size_t clients() const override {
    const std::lock_guard guard(mutex_);
    return clients_.size();
  }

  /// The writer sends each client all rounds that gathered, in one write.
  void publish(std::span<const std::byte> payload) override {
    const std::lock_guard guard(mutex_);
    const std::size_t at = gathered_.size();
    gathered_.resize(at + bench::raw_header_size + payload.size());
    bench::encode_raw_frame(gathered_.data() + at, 1, 0, payload);
    something_gathered_.notify_one();
  }

 private:
  void accepted(RawSocket socket) {
    const std::lock_guard guard(mutex_);
    if (work_.pattern == Pattern::fan_out) {
      clients_.push_back(std::move(socket));
      return;
    }
    received_.push_back(std::make_unique<std::atomic<std::uint64_t>>(0));
    threads_.emplace_back(
        [this, socket = std::move(socket), &count = *received_.back()] { serve(socket, count); });
  }

  void serve(const RawSocket& socket, std::atomic<std::uint64_t>& total) const {
    RawReader reader;
    Batch replies(work_.size);
    std::uint64_t received = 0;
    const auto one_way = [&](const RawFrame& frame) { count_message(frame, received); };
    const auto echo = [&](const RawFrame& frame) {
      replies.add(frame.event, frame.channel, frame.payload);
    };
    if (work_.pattern == Pattern::one_way) {
      while (reader.read(socket, one_way)) total.store(received, std::memory_order_relaxed);
    } else {
      while (reader.read(socket, echo)) replies.send(socket);
    }
  }

  void write_rounds() {
    std::vector<std::byte> leaving;
    for (;;) {
      leaving.clear();
      {
        std::unique_lock lock(mutex_);
        something_gathered_.wait(lock, [this] { return !gathered_.empty(); });
        leaving.swap(gathered_);
      }
      for (const RawSocket& client : clients_) client.send_all(leaving);
    }
  }

  Work work_;
  RawSocket listening_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<std::atomic<std::uint64_t>>> received_;
  std::vector<RawSocket> clients_;
  std::condition_variable something_gathered_;
  std::vector<std::byte> gathered_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
  std::thread publisher_;
};

class Client final : public bench::ClientPeer {
 public:
  void connect(const Work& work) override {
    work_ = work;
    payload_ = bench::make_payload(work.size);
    // One-way threads have a socket each: the limit of several threads is that of several sockets.
    const std::size_t count = work.pattern == Pattern::one_way ? work.threads : work.connections;
    for (std::size_t i = 0; i < count; ++i) {
      sockets_.push_back(RawSocket::connected(work.host, work.port, work.congestion));
    }
    if (work.pattern == Pattern::echo_blocking) {
      shared_ = std::make_unique<bench::SharedRoundTrips>(sockets_.front(), work.threads);
    }
    if (work.pattern == Pattern::fan_out) receiver_ = std::thread([this] { receive_rounds(); });
  }

  std::uint64_t send_until(const bench::Stop& stop, std::size_t thread) override {
    const RawSocket& socket = sockets_[thread];
    Batch batch(work_.size);
    std::uint64_t sent = 0;
    for (; !stop.load(std::memory_order_relaxed); ++sent) {
      batch.add(1, static_cast<std::uint32_t>(sent), payload_);
      if (batch.size() >= batch_bytes) batch.send(socket);
    }
    batch.send(socket);
    return sent;
  }

  void round_trip(std::span<const std::byte> bytes, std::size_t thread) override {
    if (work_.threads > 1) return shared_->round_trip(bytes, thread);
    Batch request(bytes.size());
    request.add(1, 1, bytes);
    request.send(sockets_.front());
    bool answered = false;
    while (!answered) {
      if (!reader_.read(sockets_.front(), [&](const RawFrame&) { answered = true; })) {
        throw std::runtime_error("the server is gone");
      }
    }
  }

  std::uint64_t echo_until(const bench::Stop& stop, bench::LatencyHistogram& latency) override {
    std::vector<std::uint64_t> counts(sockets_.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < sockets_.size(); ++i) {
      threads.emplace_back([&, i] {
        bench::LatencyHistogram unused;
        counts[i] = echo_on(sockets_[i], stop, unused);
      });
    }
    counts[0] = echo_on(sockets_[0], stop, latency);
    for (auto& thread : threads) thread.join();
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) sum += count;
    return sum;
  }

  std::uint64_t delivered() const override { return delivered_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  /// Every answer is followed by a new request; those of one read leave together.
  std::uint64_t echo_on(const RawSocket& socket,
                        const bench::Stop& stop,
                        bench::LatencyHistogram& latency) const {
    RawReader reader;
    Batch requests(work_.size);
    auto turn_begin = Clock::now();
    for (std::uint32_t i = 0; i < work_.window; ++i) requests.add(1, i, payload_);
    std::size_t in_flight = work_.window;
    std::uint64_t answers = 0;
    while (in_flight != 0) {
      requests.send(socket);
      reader.read(socket, [&](const RawFrame& frame) {
        ++answers;
        if (stop.load(std::memory_order_relaxed)) {
          --in_flight;
        } else {
          requests.add(1, frame.channel, payload_);
        }
      });
      const auto now = Clock::now();
      latency.record(static_cast<std::uint64_t>((now - turn_begin).count()));
      turn_begin = now;
    }
    return answers;
  }

  void receive_rounds() {
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    std::vector<RawReader> readers;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      readers.emplace_back(batch_bytes);
      epoll_event wanted{.events = EPOLLIN, .data = {.u64 = i}};
      ::epoll_ctl(epoll, EPOLL_CTL_ADD, sockets_[i].descriptor(), &wanted);
    }
    std::vector<epoll_event> ready(sockets_.size());
    std::uint64_t count = 0;
    for (;;) {
      const int ready_count = ::epoll_wait(epoll, ready.data(), static_cast<int>(ready.size()), -1);
      for (int i = 0; i < ready_count; ++i) {
        const std::size_t index = ready[static_cast<std::size_t>(i)].data.u64;
        readers[index].read(sockets_[index],
                            [&](const RawFrame& frame) { count_message(frame, count); });
        delivered_.store(count, std::memory_order_relaxed);
      }
    }
  }

  Work work_;
  std::vector<std::byte> payload_;
  std::vector<RawSocket> sockets_;
  RawReader reader_;
  std::unique_ptr<bench::SharedRoundTrips> shared_;
  std::thread receiver_;
  std::atomic<std::uint64_t> delivered_{0};
};

}  // namespace

int main(int argc, char** argv) {
  return bench::bench_main(argc,
                           argv,
                           {"raw",
                            [] { return std::make_unique<Server>(); },
                            [] { return std::make_unique<Client>(); }});
}
