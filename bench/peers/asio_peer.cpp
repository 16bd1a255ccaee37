// What a good engineer writes first with Boost.Asio: one I/O thread, a queue of messages for each
// connection, one async_write for each message, async_read_some into a buffer.

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <functional>
#include <semaphore>
#include <thread>

#include "peers/default_congestion.hpp"
#include "peers/ordered_timer.hpp"
#include "peers/peer_support.hpp"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using bench::Pattern;
using bench::RawFrame;
using bench::Work;
using boost::system::error_code;

constexpr std::uint32_t bulk_event = 1;
constexpr std::uint32_t echo_event = 2;

std::string make_frame(std::uint32_t event,
                       std::uint32_t channel,
                       std::span<const std::byte> payload) {
  std::string frame(bench::raw_header_size + payload.size(), '\0');
  bench::encode_raw_frame(reinterpret_cast<std::byte*>(frame.data()), event, channel, payload);
  return frame;
}

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Handler = std::function<void(Connection&, const RawFrame&)>;

  Connection(tcp::socket socket, std::size_t index, const Work& work, Handler handler)
      : socket_(std::move(socket)),
        index_(index),
        queue_limit_(static_cast<std::uint32_t>(
            std::clamp<std::size_t>(max_queued_bytes / work.size, 16, 10000))),
        handler_(std::move(handler)),
        buffer_(std::max(min_buffer, 2 * (work.size + bench::raw_header_size))) {
    socket_.set_option(tcp::no_delay(true));
  }

  std::size_t index() const noexcept { return index_; }

  void read() {
    socket_.async_read_some(asio::buffer(buffer_.data() + have_, buffer_.size() - have_),
                            [self = shared_from_this()](error_code error, std::size_t count) {
                              if (error) return;
                              self->have_ += count;
                              self->parse();
                              self->read();
                            });
  }

  /// Any thread; on the I/O thread without a detour.
  void send(std::string frame) {
    queued_.fetch_add(1, std::memory_order_relaxed);
    asio::dispatch(socket_.get_executor(),
                   [self = shared_from_this(), frame = std::move(frame)]() mutable {
                     self->queue_.push_back(std::move(frame));
                     if (self->queue_.size() == 1) self->write_front();
                   });
  }

  /// Any thread but the I/O thread.
  void send_when_room(std::string frame) {
    for (std::uint32_t queued = queued_.load(); queued >= queue_limit_; queued = queued_.load()) {
      queued_.wait(queued);
    }
    send(std::move(frame));
  }

 private:
  static constexpr std::size_t max_queued_bytes = std::size_t{16} * 1024 * 1024;
  static constexpr std::size_t min_buffer = std::size_t{64} * 1024;

  void parse() {
    const std::size_t used = bench::for_each_raw_frame(
        {buffer_.data(), have_}, [this](const RawFrame& frame) { handler_(*this, frame); });
    have_ -= used;
    std::memmove(buffer_.data(), buffer_.data() + used, have_);
  }

  void write_front() {
    asio::async_write(socket_,
                      asio::buffer(queue_.front()),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (error) return;
                        self->queue_.pop_front();
                        self->written();
                        if (!self->queue_.empty()) self->write_front();
                      });
  }

  void written() {
    // Those who wait for room are woken when half is free, not for each message.
    if (queued_.fetch_sub(1) == queue_limit_ / 2 + 1) queued_.notify_all();
  }

  tcp::socket socket_;
  std::size_t index_;
  std::uint32_t queue_limit_;
  Handler handler_;
  std::vector<std::byte> buffer_;
  std::size_t have_ = 0;
  std::deque<std::string> queue_;
  std::atomic<std::uint32_t> queued_{0};
};

/// An io_context and its only thread.
class IoThread {
 public:
  asio::io_context& context() noexcept { return context_; }
  void start() {
    thread_ = std::jthread([this] { context_.run(); });
  }
  ~IoThread() { context_.stop(); }

 private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
  std::jthread thread_;
};

class Server final : public bench::ServerPeer {
 public:
  std::uint16_t listen(const Work& work) override {
    work_ = work;
    bench::set_default_congestion(work.congestion);
    const tcp::endpoint endpoint(asio::ip::make_address(work.host), 0);
    acceptor_ = std::make_unique<tcp::acceptor>(io_.context(), endpoint);
    accept();
    io_.start();
    return acceptor_->local_endpoint().port();
  }

  std::uint64_t received() const override { return received_.load(std::memory_order_relaxed); }
  std::size_t clients() const override { return client_count_.load(); }

  void publish(std::span<const std::byte> payload) override {
    asio::dispatch(io_.context(), [this, frame = make_frame(bulk_event, 0, payload)] {
      for (auto& client : clients_) client->send(frame);
    });
  }

 private:
  void accept() {
    acceptor_->async_accept([this](error_code error, tcp::socket socket) {
      if (error) return;
      clients_.push_back(std::make_shared<Connection>(
          std::move(socket),
          clients_.size(),
          work_,
          [this](Connection& from, const RawFrame& frame) { received(from, frame); }));
      clients_.back()->read();
      client_count_.fetch_add(1);
      accept();
    });
  }

  void received(Connection& from, const RawFrame& frame) {
    if (frame.event == echo_event) {
      return from.send(make_frame(echo_event, frame.channel, frame.payload));
    }
    // Only this thread writes.
    received_.store(received_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  Work work_;
  std::vector<std::shared_ptr<Connection>> clients_;
  std::atomic<std::size_t> client_count_{0};
  std::atomic<std::uint64_t> received_{0};
  IoThread io_;
  std::unique_ptr<tcp::acceptor> acceptor_;
};

class Client final : public bench::ClientPeer {
 public:
  void connect(const Work& work) override {
    work_ = work;
    payload_ = bench::make_payload(work.size);
    waiters_ = std::vector<Waiter>(std::max<std::size_t>(work.threads, 2));
    bench::set_default_congestion(work.congestion);
    const tcp::endpoint endpoint(asio::ip::make_address(work.host), work.port);
    for (std::size_t i = 0; i < work.connections; ++i) {
      tcp::socket socket(io_.context());
      socket.connect(endpoint);
      connections_.push_back(std::make_shared<Connection>(
          std::move(socket), i, work, [this](Connection& from, const RawFrame& frame) {
            received(from, frame);
          }));
      connections_.back()->read();
    }
    io_.start();
  }

  std::uint64_t send_until(const bench::Stop& stop, std::size_t) override {
    Connection& connection = *connections_.front();
    std::uint64_t sent = 0;
    for (; !stop.load(std::memory_order_relaxed); ++sent) {
      connection.send_when_room(make_frame(bulk_event, 0, payload_));
    }
    return sent;
  }

  void round_trip(std::span<const std::byte> bytes, std::size_t thread) override {
    connections_.front()->send(make_frame(echo_event, static_cast<std::uint32_t>(thread), bytes));
    waiters_[thread].answered.acquire();
    bench::check_reply(waiters_[thread].size, bytes.size());
  }

  std::uint64_t echo_until(const bench::Stop& stop, bench::LatencyHistogram& latency) override {
    echo_ = std::make_unique<Echo>(stop, connections_.size() * work_.window);
    for (std::size_t i = 0; i < connections_.size(); ++i) echo_->timers.emplace_back(latency);
    asio::dispatch(io_.context(), [this] {
      for (auto& connection : connections_) {
        for (std::size_t i = 0; i < work_.window; ++i) request(*connection);
      }
    });
    echo_->done.acquire();
    return echo_->round_trips;
  }

  std::uint64_t delivered() const override { return delivered_.load(std::memory_order_relaxed); }

 private:
  struct Waiter {
    std::binary_semaphore answered{0};
    std::size_t size = 0;
  };

  struct Echo {
    Echo(const bench::Stop& stop_flag, std::size_t requests)
        : stop(stop_flag), in_flight(requests) {}
    const bench::Stop& stop;
    std::size_t in_flight;
    std::uint64_t round_trips = 0;
    std::deque<bench::OrderedTimer> timers;
    std::binary_semaphore done{0};
  };

  void request(Connection& connection) {
    echo_->timers[connection.index()].sent();
    connection.send(make_frame(echo_event, 0, payload_));
  }

  void received(Connection& from, const RawFrame& frame) {
    if (work_.pattern == Pattern::fan_out) {
      // Only this thread writes.
      return delivered_.store(delivered_.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
    }
    if (work_.pattern == Pattern::echo_window) return answered(from, frame);
    waiters_[frame.channel].size = frame.payload.size();
    waiters_[frame.channel].answered.release();
  }

  void answered(Connection& from, const RawFrame& frame) {
    bench::check_reply(frame.payload.size(), work_.size);
    echo_->timers[from.index()].answered();
    ++echo_->round_trips;
    if (!echo_->stop.load(std::memory_order_relaxed)) return request(from);
    if (--echo_->in_flight == 0) echo_->done.release();
  }

  Work work_;
  std::vector<std::byte> payload_;
  std::vector<Waiter> waiters_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::unique_ptr<Echo> echo_;
  std::atomic<std::uint64_t> delivered_{0};
  IoThread io_;
};

}  // namespace

int main(int argc, char** argv) { return bench::peer_main<Server, Client>(argc, argv, "asio"); }
