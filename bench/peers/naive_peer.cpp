// What one writes without a library: blocking sockets, one send() for each message, one thread for
// each connection that reads.

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "peers/epoll_set.hpp"
#include "peers/ordered_timer.hpp"
#include "peers/peer_support.hpp"

namespace {

using bench::Pattern;
using bench::RawFrame;
using bench::RawReader;
using bench::RawSocket;
using bench::Work;

constexpr std::uint32_t bulk_event = 1;
constexpr std::uint32_t echo_event = 2;

std::size_t buffer_size(const Work& work) {
  return std::max(std::size_t{64} * 1024, bench::raw_header_size + work.size);
}

/// One message, sent by one call.
class Outgoing {
 public:
  void send(const RawSocket& socket,
            std::uint32_t event,
            std::uint32_t channel,
            std::span<const std::byte> payload) {
    bytes_.resize(bench::raw_header_size + payload.size());
    bench::encode_raw_frame(bytes_.data(), event, channel, payload);
    socket.send_all(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

class Server final : public bench::ServerPeer {
 public:
  std::uint16_t listen(const Work& work) override {
    work_ = work;
    listening_ = RawSocket::listening(work.host, work.congestion);
    acceptor_ = std::thread([this] {
      for (;;) accepted(listening_.accept());
    });
    return listening_.port();
  }

  std::uint64_t received() const override { return received_.load(std::memory_order_relaxed); }

  std::size_t clients() const override {
    const std::lock_guard guard(mutex_);
    return clients_.size();
  }

  void publish(std::span<const std::byte> payload) override {
    for (const RawSocket& client : clients_) outgoing_.send(client, bulk_event, 0, payload);
  }

 private:
  void accepted(RawSocket socket) {
    const std::lock_guard guard(mutex_);
    if (work_.pattern == Pattern::fan_out) {
      clients_.push_back(std::move(socket));
      return;
    }
    threads_.emplace_back([this, socket = std::move(socket)] { serve(socket); });
  }

  void serve(const RawSocket& socket) {
    RawReader reader(buffer_size(work_));
    Outgoing reply;
    bool open = true;
    while (open) {
      std::uint64_t count = 0;
      open = reader.read(socket, [&](const RawFrame& frame) {
        if (frame.event == bulk_event) {
          ++count;
        } else {
          reply.send(socket, frame.event, frame.channel, frame.payload);
        }
      });
      received_.fetch_add(count, std::memory_order_relaxed);
    }
  }

  Work work_;
  RawSocket listening_;
  mutable std::mutex mutex_;
  std::vector<RawSocket> clients_;
  Outgoing outgoing_;
  std::atomic<std::uint64_t> received_{0};
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

/// A caller that waits for its answer.
class Waiter {
 public:
  void answer(std::size_t size) {
    {
      const std::lock_guard guard(mutex_);
      size_ = size;
      answered_ = true;
    }
    changed_.notify_one();
  }
  std::size_t wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return answered_; });
    answered_ = false;
    return size_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t size_ = 0;
  bool answered_ = false;
};

class Client final : public bench::ClientPeer {
 public:
  void connect(const Work& work) override {
    work_ = work;
    payload_ = bench::make_payload(work.size);
    reader_ = RawReader(buffer_size(work));
    for (std::size_t i = 0; i < work.connections; ++i) {
      sockets_.push_back(RawSocket::connected(work.host, work.port, work.congestion));
    }
    if (work.pattern == Pattern::fan_out) {
      receiver_ = std::thread([this] { receive_rounds(); });
    } else if (work.pattern == Pattern::beside_bulk || is_shared()) {
      waiters_ = std::vector<Waiter>(std::max<std::size_t>(work.threads, 2));
      receiver_ = std::thread([this] { receive_answers(); });
    }
  }

  std::uint64_t send_until(const bench::Stop& stop, std::size_t) override {
    Outgoing message;
    std::uint64_t sent = 0;
    for (; !stop.load(std::memory_order_relaxed); ++sent) {
      const std::lock_guard guard(mutex_);
      message.send(sockets_.front(), bulk_event, 0, payload_);
    }
    return sent;
  }

  void round_trip(std::span<const std::byte> bytes, std::size_t thread) override {
    Outgoing request;
    if (waiters_.empty()) {
      request.send(sockets_.front(), echo_event, 0, bytes);
      return read_answer(bytes.size());
    }
    {
      const std::lock_guard guard(mutex_);
      request.send(sockets_.front(), echo_event, static_cast<std::uint32_t>(thread), bytes);
    }
    bench::check_reply(waiters_[thread].wait(), bytes.size());
  }

  std::uint64_t echo_until(const bench::Stop& stop, bench::LatencyHistogram& latency) override {
    // Both sides write blockingly: with more in flight than the system buffers, both wait forever.
    constexpr std::size_t max_in_flight = std::size_t{512} * 1024;
    if (work_.window * work_.size > max_in_flight) {
      throw std::runtime_error("this peer does not keep so many bytes in flight");
    }
    std::vector<std::uint64_t> counts(sockets_.size());
    std::vector<bench::LatencyHistogram> latencies(sockets_.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < sockets_.size(); ++i) {
        threads.emplace_back([&, i] { counts[i] = echo_on(sockets_[i], stop, latencies[i]); });
      }
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      sum += counts[i];
      latency.merge(latencies[i]);
    }
    return sum;
  }

  std::uint64_t delivered() const override { return delivered_.load(std::memory_order_relaxed); }

 private:
  bool is_shared() const { return work_.pattern == Pattern::echo_blocking && work_.threads > 1; }

  void read_answer(std::size_t size) {
    bool answered = false;
    while (!answered) {
      const bool open = reader_.read(sockets_.front(), [&](const RawFrame& frame) {
        bench::check_reply(frame.payload.size(), size);
        answered = true;
      });
      if (!open) throw std::runtime_error("the server is gone");
    }
  }

  void receive_answers() {
    while (reader_.read(sockets_.front(), [&](const RawFrame& frame) {
      waiters_[frame.channel].answer(frame.payload.size());
    })) {
    }
  }

  std::uint64_t echo_on(const RawSocket& socket,
                        const bench::Stop& stop,
                        bench::LatencyHistogram& latency) const {
    RawReader reader(buffer_size(work_));
    Outgoing request;
    bench::OrderedTimer timer(latency);
    const auto send = [&] {
      timer.sent();
      request.send(socket, echo_event, 0, payload_);
    };
    for (std::size_t i = 0; i < work_.window; ++i) send();
    std::uint64_t answers = 0;
    for (std::size_t in_flight = work_.window; in_flight != 0;) {
      reader.read(socket, [&](const RawFrame& frame) {
        bench::check_reply(frame.payload.size(), work_.size);
        timer.answered();
        ++answers;
        if (stop.load(std::memory_order_relaxed)) {
          --in_flight;
        } else {
          send();
        }
      });
    }
    return answers;
  }

  void receive_rounds() {
    bench::EpollSet epoll;
    std::vector<RawReader> readers;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      readers.emplace_back(buffer_size(work_));
      epoll.add(sockets_[i].descriptor(), i);
    }
    std::uint64_t count = 0;
    for (;;) {
      epoll.wait([&](std::size_t i) {
        readers[i].read(sockets_[i], [&](const RawFrame&) { ++count; });
        delivered_.store(count, std::memory_order_relaxed);
      });
    }
  }

  Work work_;
  std::vector<std::byte> payload_;
  std::vector<RawSocket> sockets_;
  std::mutex mutex_;
  RawReader reader_;
  std::vector<Waiter> waiters_;
  std::thread receiver_;
  std::atomic<std::uint64_t> delivered_{0};
};

}  // namespace

int main(int argc, char** argv) { return bench::peer_main<Server, Client>(argc, argv, "naive"); }
