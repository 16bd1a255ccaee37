// ZeroMQ (libzmq): PUSH and PULL, DEALER and ROUTER, PUB and SUB. One I/O thread on each side, as
// is its default. Its sockets belong to one thread each, so that threads that send one way have a
// connection each, and threads that share one for requests go through its proxy.

#include <zmq.h>

#include <algorithm>
#include <array>
#include <deque>
#include <thread>

#include "peers/default_congestion.hpp"
#include "peers/epoll_set.hpp"
#include "peers/ordered_timer.hpp"
#include "peers/peer_support.hpp"

namespace {

using bench::Pattern;
using bench::Work;

constexpr const char* requests_url = "inproc://requests";

int checked(int result) {
  if (result < 0) throw std::runtime_error(std::string("zmq: ") + zmq_strerror(zmq_errno()));
  return result;
}

struct ContextDeleter {
  void operator()(void* context) const { zmq_ctx_term(context); }
};
struct SocketDeleter {
  void operator()(void* socket) const { zmq_close(socket); }
};
using Context = std::unique_ptr<void, ContextDeleter>;
using Socket = std::unique_ptr<void, SocketDeleter>;

class Message {
 public:
  Message() { zmq_msg_init(&message_); }
  ~Message() { zmq_msg_close(&message_); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  void receive(const Socket& from) { checked(zmq_msg_recv(&message_, from.get(), 0)); }
  /// False when there is none.
  bool receive_now(const Socket& from) {
    if (zmq_msg_recv(&message_, from.get(), ZMQ_DONTWAIT) >= 0) return true;
    if (zmq_errno() != EAGAIN) checked(-1);
    return false;
  }
  /// Leaves the message empty.
  void send(const Socket& to, int flags) { checked(zmq_msg_send(&message_, to.get(), flags)); }
  bool has_more() const { return zmq_msg_more(&message_) != 0; }
  std::size_t size() const { return zmq_msg_size(&message_); }

 private:
  zmq_msg_t message_;
};

void set_option(const Socket& socket, int option, int value) {
  checked(zmq_setsockopt(socket.get(), option, &value, sizeof value));
}

Context make_context(const Work& work) {
  bench::set_default_congestion(work.congestion);
  Context context(zmq_ctx_new());
  checked(zmq_ctx_set(
      context.get(), ZMQ_MAX_SOCKETS, static_cast<int>(work.connections + work.threads + 16)));
  return context;
}

Socket make_socket(const Context& context, int type, const Work& work) {
  Socket socket(zmq_socket(context.get(), type));
  if (!socket) checked(-1);
  // Many small messages, but not more than 64 MiB of large ones.
  constexpr std::size_t max_queued_bytes = std::size_t{64} * 1024 * 1024;
  const auto limit =
      static_cast<int>(std::clamp<std::size_t>(max_queued_bytes / work.size, 1000, 100'000));
  set_option(socket, ZMQ_SNDHWM, limit);
  set_option(socket, ZMQ_RCVHWM, limit);
  set_option(socket, ZMQ_LINGER, 0);
  return socket;
}

void send(const Socket& socket, std::span<const std::byte> payload) {
  checked(zmq_send(socket.get(), payload.data(), payload.size(), 0));
}

class Server final : public bench::ServerPeer {
 public:
  std::uint16_t listen(const Work& work) override {
    context_ = make_context(work);
    switch (work.pattern) {
      case Pattern::one_way: socket_ = make_socket(context_, ZMQ_PULL, work); break;
      case Pattern::echo_blocking:
      case Pattern::echo_window: socket_ = make_socket(context_, ZMQ_ROUTER, work); break;
      case Pattern::fan_out: socket_ = make_socket(context_, ZMQ_XPUB, work); break;
      case Pattern::beside_bulk: throw std::runtime_error("this peer does not do beside-bulk");
    }
    if (work.pattern == Pattern::fan_out) {
      // Waits instead of dropping; tells about every subscriber, not the first alone.
      set_option(socket_, ZMQ_XPUB_NODROP, 1);
      set_option(socket_, ZMQ_XPUB_VERBOSE, 1);
    }
    set_option(socket_, ZMQ_BACKLOG, 1024);
    checked(zmq_bind(socket_.get(), bench::tcp_url(work.host, 0).c_str()));
    const std::uint16_t port = bound_port();
    if (work.pattern == Pattern::one_way) thread_ = std::thread([this] { count(); });
    if (work.pattern == Pattern::echo_blocking || work.pattern == Pattern::echo_window) {
      thread_ = std::thread([this] { echo(); });
    }
    return port;
  }

  std::uint64_t received() const override { return received_.load(std::memory_order_relaxed); }

  /// Not called while another thread publishes.
  std::size_t clients() const override {
    Message subscription;
    while (subscription.receive_now(socket_)) ++clients_;
    return clients_;
  }

  void publish(std::span<const std::byte> payload) override { send(socket_, payload); }

 private:
  std::uint16_t bound_port() const {
    std::array<char, 128> endpoint{};
    std::size_t size = endpoint.size();
    checked(zmq_getsockopt(socket_.get(), ZMQ_LAST_ENDPOINT, endpoint.data(), &size));
    const std::string url(endpoint.data());
    return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }

  void count() {
    Message message;
    for (std::uint64_t count = 1;; ++count) {
      message.receive(socket_);
      received_.store(count, std::memory_order_relaxed);
    }
  }

  /// Sends back every part, the ones that name the client included.
  void echo() {
    Message part;
    for (;;) {
      part.receive(socket_);
      part.send(socket_, part.has_more() ? ZMQ_SNDMORE : 0);
    }
  }

  Context context_;
  Socket socket_;
  mutable std::size_t clients_ = 0;
  std::atomic<std::uint64_t> received_{0};
  std::thread thread_;
};

class Client final : public bench::ClientPeer {
 public:
  void connect(const Work& work) override {
    work_ = work;
    payload_ = bench::make_payload(work.size);
    url_ = bench::tcp_url(work.host, work.port);
    context_ = make_context(work);
    switch (work.pattern) {
      case Pattern::one_way: return connect_sockets(ZMQ_PUSH, work.threads);
      case Pattern::echo_blocking: return connect_requests();
      case Pattern::echo_window: return connect_sockets(ZMQ_DEALER, work.connections);
      case Pattern::fan_out: return subscribe();
      case Pattern::beside_bulk: throw std::runtime_error("this peer does not do beside-bulk");
    }
  }

  std::uint64_t send_until(const bench::Stop& stop, std::size_t thread) override {
    std::uint64_t sent = 0;
    for (; !stop.load(std::memory_order_relaxed); ++sent) send(sockets_[thread], payload_);
    return sent;
  }

  void round_trip(std::span<const std::byte> bytes, std::size_t thread) override {
    send(sockets_[thread], bytes);
    Message reply;
    reply.receive(sockets_[thread]);
    bench::check_reply(reply.size(), bytes.size());
  }

  std::uint64_t echo_until(const bench::Stop& stop, bench::LatencyHistogram& latency) override {
    std::deque<bench::OrderedTimer> timers;
    std::vector<zmq_pollitem_t> wanted;
    for (const Socket& socket : sockets_) {
      timers.emplace_back(latency);
      wanted.push_back({socket.get(), 0, ZMQ_POLLIN, 0});
      for (std::size_t i = 0; i < work_.window; ++i) request(socket, timers.back());
    }
    std::uint64_t answers = 0;
    Message reply;
    for (std::size_t in_flight = sockets_.size() * work_.window; in_flight != 0;) {
      const std::uint64_t before = answers;
      for (std::size_t i = 0; i < sockets_.size(); ++i) {
        while (reply.receive_now(sockets_[i])) {
          bench::check_reply(reply.size(), work_.size);
          timers[i].answered();
          ++answers;
          if (stop.load(std::memory_order_relaxed)) {
            --in_flight;
          } else {
            request(sockets_[i], timers[i]);
          }
        }
      }
      if (answers == before) checked(zmq_poll(wanted.data(), static_cast<int>(wanted.size()), -1));
    }
    return answers;
  }

  std::uint64_t delivered() const override { return delivered_.load(std::memory_order_relaxed); }

 private:
  void connect_sockets(int type, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      sockets_.push_back(make_socket(context_, type, work_));
      checked(zmq_connect(sockets_.back().get(), url_.c_str()));
    }
  }

  void connect_requests() {
    if (work_.threads == 1) return connect_sockets(ZMQ_DEALER, 1);
    Socket inner = make_socket(context_, ZMQ_ROUTER, work_);
    checked(zmq_bind(inner.get(), requests_url));
    Socket outer = make_socket(context_, ZMQ_DEALER, work_);
    checked(zmq_connect(outer.get(), url_.c_str()));
    thread_ = std::thread([inner = std::move(inner), outer = std::move(outer)] {
      zmq_proxy(inner.get(), outer.get(), nullptr);
    });
    url_ = requests_url;
    connect_sockets(ZMQ_DEALER, work_.threads);
  }

  void subscribe() {
    for (std::size_t i = 0; i < work_.connections; ++i) {
      sockets_.push_back(make_socket(context_, ZMQ_SUB, work_));
      checked(zmq_setsockopt(sockets_.back().get(), ZMQ_SUBSCRIBE, "", 0));
      checked(zmq_connect(sockets_.back().get(), url_.c_str()));
    }
    thread_ = std::thread([this] { receive_rounds(); });
  }

  void request(const Socket& socket, bench::OrderedTimer& timer) const {
    timer.sent();
    send(socket, payload_);
  }

  /// By the descriptors below the sockets: zmq_poll looks at all of them each time.
  void receive_rounds() {
    bench::EpollSet epoll;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      int descriptor = -1;
      std::size_t size = sizeof descriptor;
      checked(zmq_getsockopt(sockets_[i].get(), ZMQ_FD, &descriptor, &size));
      epoll.add(descriptor, i);
    }
    Message message;
    std::uint64_t count = 0;
    // What came before its descriptor was looked at is not told again.
    for (const Socket& socket : sockets_) {
      while (message.receive_now(socket)) ++count;
    }
    for (;;) {
      epoll.wait([&](std::size_t i) {
        while (message.receive_now(sockets_[i])) ++count;
        delivered_.store(count, std::memory_order_relaxed);
      });
    }
  }

  Work work_;
  std::string url_;
  std::vector<std::byte> payload_;
  Context context_;
  std::vector<Socket> sockets_;
  std::atomic<std::uint64_t> delivered_{0};
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) { return bench::peer_main<Server, Client>(argc, argv, "zmq"); }
