// nng: push0 and pull0, req0 and rep0 with a context for each request in flight, pub0 and sub0.

#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <semaphore>
#include <thread>

#include "peers/default_congestion.hpp"
#include "peers/peer_support.hpp"

namespace {

using bench::Pattern;
using bench::Work;

// Operations under way at once on a socket that only sends or only receives.
constexpr std::size_t operations_at_once = 64;
constexpr std::size_t max_queued_bytes = std::size_t{16} * 1024 * 1024;

void check(int result) {
  if (result != 0) throw std::runtime_error(std::string("nng: ") + nng_strerror(result));
}

class Socket {
 public:
  explicit Socket(int (*open)(nng_socket*)) { check(open(&socket_)); }
  Socket(Socket&& other) noexcept : socket_(std::exchange(other.socket_, nng_socket{})) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (socket_.id != 0) nng_close(socket_);
  }
  nng_socket get() const noexcept { return socket_; }

  void set_buffers(std::size_t messages, bool send) const {
    check(nng_socket_set_int(
        socket_, send ? NNG_OPT_SENDBUF : NNG_OPT_RECVBUF, static_cast<int>(messages)));
  }

  std::uint16_t listen(const Work& work) const {
    check(nng_socket_set_size(socket_, NNG_OPT_RECVMAXSZ, 0));
    nng_listener listener{};
    check(nng_listen(socket_, bench::tcp_url(work.host, 0).c_str(), &listener, 0));
    int port = 0;
    check(nng_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT, &port));
    return static_cast<std::uint16_t>(port);
  }
  /// Returns when connected.
  void dial(const Work& work) const {
    check(nng_socket_set_size(socket_, NNG_OPT_RECVMAXSZ, 0));
    check(nng_dial(socket_, bench::tcp_url(work.host, work.port).c_str(), nullptr, 0));
  }

 private:
  nng_socket socket_{};
};

struct MessageDeleter {
  void operator()(nng_msg* message) const { nng_msg_free(message); }
};
using Message = std::unique_ptr<nng_msg, MessageDeleter>;

/// Reuses the memory of `message`, if there is one.
Message make_message(std::span<const std::byte> payload, Message message = {}) {
  if (!message) {
    nng_msg* made = nullptr;
    check(nng_msg_alloc(&made, 0));
    message.reset(made);
  }
  nng_msg_clear(message.get());
  check(nng_msg_append(message.get(), payload.data(), payload.size()));
  return message;
}

/// One operation at a time. With a handler, that is called at the end of each; else `wait` tells.
class Operation {
 public:
  Operation() : Operation(nullptr) {}
  explicit Operation(std::function<void()> handler) : handler_(std::move(handler)) {
    nng_aio* made = nullptr;
    check(nng_aio_alloc(&made, handler_ ? &Operation::on_end : nullptr, this));
    aio_.reset(made);
    nng_aio_set_timeout(made, NNG_DURATION_INFINITE);
  }

  nng_aio* get() const noexcept { return aio_.get(); }
  void wait() const { nng_aio_wait(aio_.get()); }
  int result() const { return nng_aio_result(aio_.get()); }
  void set_message(Message message) const { nng_aio_set_msg(aio_.get(), message.release()); }
  Message take_message() const {
    Message message(nng_aio_get_msg(aio_.get()));
    nng_aio_set_msg(aio_.get(), nullptr);
    return message;
  }

 private:
  struct Deleter {
    void operator()(nng_aio* aio) const { nng_aio_free(aio); }
  };
  static void on_end(void* self) { static_cast<Operation*>(self)->handler_(); }

  std::function<void()> handler_;
  std::unique_ptr<nng_aio, Deleter> aio_;
};

class RequestContext {
 public:
  explicit RequestContext(const Socket& socket) { check(nng_ctx_open(&context_, socket.get())); }
  RequestContext(const RequestContext&) = delete;
  RequestContext& operator=(const RequestContext&) = delete;
  ~RequestContext() { nng_ctx_close(context_); }
  nng_ctx get() const noexcept { return context_; }

 private:
  nng_ctx context_{};
};

/// Receives a request and sends it back, again and again.
class Echo {
 public:
  explicit Echo(const Socket& socket) : context_(socket), operation_([this] { step(); }) {
    nng_ctx_recv(context_.get(), operation_.get());
  }

 private:
  void step() {
    if (operation_.result() != 0) return;
    sending_ = !sending_;
    if (sending_) {
      nng_ctx_send(context_.get(), operation_.get());
    } else {
      nng_ctx_recv(context_.get(), operation_.get());
    }
  }

  RequestContext context_;
  bool sending_ = false;
  Operation operation_;
};

class Server final : public bench::ServerPeer {
 public:
  std::uint16_t listen(const Work& work) override {
    bench::set_default_congestion(work.congestion);
    switch (work.pattern) {
      case Pattern::one_way: socket_ = std::make_unique<Socket>(nng_pull0_open); break;
      case Pattern::echo_blocking:
      case Pattern::echo_window: socket_ = std::make_unique<Socket>(nng_rep0_open); break;
      case Pattern::fan_out: open_publisher(work); break;
      case Pattern::beside_bulk: throw std::runtime_error("this peer does not do beside-bulk");
    }
    const std::uint16_t port = socket_->listen(work);
    if (work.pattern == Pattern::one_way) thread_ = std::thread([this] { count(); });
    if (work.pattern == Pattern::echo_blocking || work.pattern == Pattern::echo_window) {
      const std::size_t in_flight =
          work.pattern == Pattern::echo_blocking ? work.threads : work.window * work.connections;
      for (std::size_t i = 0; i < std::min<std::size_t>(in_flight, 1024); ++i) {
        echoes_.push_back(std::make_unique<Echo>(*socket_));
      }
    }
    return port;
  }

  std::uint64_t received() const override { return received_.load(std::memory_order_relaxed); }
  std::size_t clients() const override { return clients_.load(); }

  void publish(std::span<const std::byte> payload) override {
    Message message = make_message(payload);
    check(nng_sendmsg(socket_->get(), message.get(), 0));
    // Its owner is the socket now.
    static_cast<void>(message.release());
  }

 private:
  void open_publisher(const Work& work) {
    socket_ = std::make_unique<Socket>(nng_pub0_open);
    // It drops what does not fit; the harness has at most `window` rounds under way.
    socket_->set_buffers(std::min<std::size_t>(4 * work.window, 8192), true);
    const auto on_client = [](nng_pipe, nng_pipe_ev, void* self) {
      static_cast<Server*>(self)->clients_.fetch_add(1);
    };
    check(nng_pipe_notify(socket_->get(), NNG_PIPE_EV_ADD_POST, on_client, this));
  }

  void count() {
    std::vector<Operation> operations(operations_at_once);
    for (const Operation& operation : operations) nng_recv_aio(socket_->get(), operation.get());
    for (std::uint64_t received = 1;; ++received) {
      const Operation& operation = operations[(received - 1) % operations_at_once];
      operation.wait();
      if (operation.result() != 0) return;
      operation.take_message();
      received_.store(received, std::memory_order_relaxed);
      nng_recv_aio(socket_->get(), operation.get());
    }
  }

  std::unique_ptr<Socket> socket_;
  std::vector<std::unique_ptr<Echo>> echoes_;
  std::atomic<std::size_t> clients_{0};
  std::atomic<std::uint64_t> received_{0};
  std::thread thread_;
};

/// All requests of one echo_until.
struct EchoRun {
  const bench::Stop& stop;
  std::span<const std::byte> payload;
  std::atomic<std::size_t> in_flight;
  std::atomic<std::uint64_t> round_trips{0};
  std::mutex mutex;
  bench::LatencyHistogram latency;
  std::binary_semaphore done{0};
};

/// One of the requests in flight, again and again.
class WindowSlot {
 public:
  WindowSlot(const Socket& socket, EchoRun& run)
      : context_(socket), run_(run), operation_([this] { step(); }) {}

  void send(Message reuse = {}) {
    if (count_++ % timed_every == 0) begin_ = Clock::now();
    operation_.set_message(make_message(run_.payload, std::move(reuse)));
    sending_ = true;
    nng_ctx_send(context_.get(), operation_.get());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t timed_every = 64;

  void step() {
    check(operation_.result());
    if (sending_) {
      sending_ = false;
      return nng_ctx_recv(context_.get(), operation_.get());
    }
    Message reply = operation_.take_message();
    bench::check_reply(nng_msg_len(reply.get()), run_.payload.size());
    if (begin_ != Clock::time_point{}) {
      const std::lock_guard guard(run_.mutex);
      run_.latency.record(static_cast<std::uint64_t>((Clock::now() - begin_).count()));
      begin_ = {};
    }
    run_.round_trips.fetch_add(1, std::memory_order_relaxed);
    if (!run_.stop.load(std::memory_order_relaxed)) return send(std::move(reply));
    if (run_.in_flight.fetch_sub(1) == 1) run_.done.release();
  }

  RequestContext context_;
  EchoRun& run_;
  bool sending_ = false;
  std::uint64_t count_ = 0;
  Clock::time_point begin_;
  Operation operation_;
};

class Client final : public bench::ClientPeer {
 public:
  void connect(const Work& work) override {
    work_ = work;
    payload_ = bench::make_payload(work.size);
    bench::set_default_congestion(work.congestion);
    switch (work.pattern) {
      case Pattern::one_way:
        sockets_.emplace_back(nng_push0_open);
        sockets_.back().set_buffers(
            std::clamp<std::size_t>(max_queued_bytes / work.size, operations_at_once, 1000), true);
        return sockets_.back().dial(work);
      case Pattern::echo_blocking:
        sockets_.emplace_back(nng_req0_open);
        for (std::size_t i = 0; i < work.threads; ++i) {
          callers_.push_back(std::make_unique<Caller>(sockets_.back()));
        }
        return sockets_.back().dial(work);
      case Pattern::echo_window:
        for (std::size_t i = 0; i < work.connections; ++i) {
          sockets_.emplace_back(nng_req0_open);
          sockets_.back().dial(work);
        }
        return;
      case Pattern::fan_out: return subscribe();
      case Pattern::beside_bulk: throw std::runtime_error("this peer does not do beside-bulk");
    }
  }

  std::uint64_t send_until(const bench::Stop& stop, std::size_t) override {
    std::vector<Operation> operations(operations_at_once);
    std::uint64_t sent = 0;
    for (; !stop.load(std::memory_order_relaxed); ++sent) {
      const Operation& operation = operations[sent % operations_at_once];
      operation.wait();
      check(operation.result());
      operation.set_message(make_message(payload_));
      nng_send_aio(sockets_.front().get(), operation.get());
    }
    for (const Operation& operation : operations) operation.wait();
    return sent;
  }

  void round_trip(std::span<const std::byte> bytes, std::size_t thread) override {
    Caller& caller = *callers_[thread];
    caller.operation.set_message(make_message(bytes, std::move(caller.message)));
    nng_ctx_send(caller.context.get(), caller.operation.get());
    caller.operation.wait();
    check(caller.operation.result());
    nng_ctx_recv(caller.context.get(), caller.operation.get());
    caller.operation.wait();
    check(caller.operation.result());
    caller.message = caller.operation.take_message();
    bench::check_reply(nng_msg_len(caller.message.get()), bytes.size());
  }

  std::uint64_t echo_until(const bench::Stop& stop, bench::LatencyHistogram& latency) override {
    EchoRun run{.stop = stop,
                .payload = payload_,
                .in_flight = sockets_.size() * work_.window,
                .mutex = {},
                .latency = {}};
    std::vector<std::unique_ptr<WindowSlot>> slots;
    for (const Socket& socket : sockets_) {
      for (std::size_t i = 0; i < work_.window; ++i) {
        slots.push_back(std::make_unique<WindowSlot>(socket, run));
      }
    }
    for (auto& slot : slots) slot->send();
    run.done.acquire();
    latency.merge(run.latency);
    return run.round_trips;
  }

  std::uint64_t delivered() const override { return delivered_.load(std::memory_order_relaxed); }

 private:
  /// One thread's requests.
  struct Caller {
    explicit Caller(const Socket& socket) : context(socket) {}
    RequestContext context;
    Operation operation;
    Message message;
  };

  class Subscriber {
   public:
    Subscriber(const Work& work, std::atomic<std::uint64_t>& delivered)
        : socket_(nng_sub0_open), delivered_(delivered), operation_([this] { received(); }) {
      socket_.set_buffers(std::min<std::size_t>(4 * work.window, 8192), false);
      check(nng_socket_set(socket_.get(), NNG_OPT_SUB_SUBSCRIBE, "", 0));
      socket_.dial(work);
      nng_recv_aio(socket_.get(), operation_.get());
    }

   private:
    void received() {
      if (operation_.result() != 0) return;
      operation_.take_message();
      delivered_.fetch_add(1, std::memory_order_relaxed);
      nng_recv_aio(socket_.get(), operation_.get());
    }

    Socket socket_;
    std::atomic<std::uint64_t>& delivered_;
    Operation operation_;
  };

  void subscribe() {
    for (std::size_t i = 0; i < work_.connections; ++i) {
      subscribers_.push_back(std::make_unique<Subscriber>(work_, delivered_));
    }
  }

  Work work_;
  std::vector<std::byte> payload_;
  std::vector<Socket> sockets_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::atomic<std::uint64_t> delivered_{0};
  std::vector<std::unique_ptr<Subscriber>> subscribers_;
};

}  // namespace

int main(int argc, char** argv) { return bench::peer_main<Server, Client>(argc, argv, "nng"); }
