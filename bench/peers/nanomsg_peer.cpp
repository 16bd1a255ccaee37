// nanomsg: PUSH and PULL, REQ and REP, PUB and SUB. A REQ socket has one request in flight, so that
// each thread has a socket and a connection of its own, and there is no window of echoes.

#include <nanomsg/nn.h>
#include <nanomsg/pipeline.h>
#include <nanomsg/pubsub.h>
#include <nanomsg/reqrep.h>
#include <nanomsg/tcp.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "peers/default_congestion.hpp"
#include "peers/epoll_set.hpp"
#include "peers/peer_support.hpp"

namespace {

using bench::Pattern;
using bench::Work;

constexpr std::size_t max_subscriber_sockets = 500;

int checked(int result) {
  if (result < 0) throw std::runtime_error(std::string("nanomsg: ") + nn_strerror(nn_errno()));
  return result;
}

class Socket {
 public:
  explicit Socket(int protocol) : socket_(checked(nn_socket(AF_SP, protocol))) {
    // Nagle's algorithm is on by default, and messages may have any size.
    set(NN_TCP, NN_TCP_NODELAY, 1);
    set(NN_SOL_SOCKET, NN_RCVMAXSIZE, -1);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { nn_close(socket_); }

  void set(int level, int option, int value) const {
    checked(nn_setsockopt(socket_, level, option, &value, sizeof value));
  }

  void bind(const std::string& url) const { checked(nn_bind(socket_, url.c_str())); }
  /// Adds a connection; returns when it is there.
  void connect(const std::string& url) const {
    const std::size_t before = connections();
    checked(nn_connect(socket_, url.c_str()));
    while (connections() == before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::size_t connections() const {
    return static_cast<std::size_t>(nn_get_statistic(socket_, NN_STAT_CURRENT_CONNECTIONS));
  }

  void send(std::span<const std::byte> payload) const {
    checked(nn_send(socket_, payload.data(), payload.size(), 0));
  }

  int descriptor() const {
    int descriptor = -1;
    std::size_t size = sizeof descriptor;
    checked(nn_getsockopt(socket_, NN_SOL_SOCKET, NN_RCVFD, &descriptor, &size));
    return descriptor;
  }
  int get() const noexcept { return socket_; }

 private:
  int socket_;
};

/// A message in the library's memory, not copied.
class Message {
 public:
  Message() = default;
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() { clear(); }

  void receive(const Socket& from) {
    clear();
    size_ = static_cast<std::size_t>(checked(nn_recv(from.get(), &data_, NN_MSG, 0)));
  }
  void send(const Socket& to) {
    checked(nn_send(to.get(), &data_, NN_MSG, 0));
    data_ = nullptr;
  }
  std::size_t size() const noexcept { return size_; }

 private:
  void clear() {
    if (data_ != nullptr) nn_freemsg(std::exchange(data_, nullptr));
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

class Server final : public bench::ServerPeer {
 public:
  std::uint16_t listen(const Work& work) override {
    bench::set_default_congestion(work.congestion);
    socket_ = std::make_unique<Socket>(protocol(work.pattern));
    const std::uint16_t port = bench::find_free_port(work.host);
    socket_->bind(bench::tcp_url(work.host, port));
    if (work.pattern == Pattern::one_way) thread_ = std::thread([this] { count(); });
    if (work.pattern == Pattern::echo_blocking) thread_ = std::thread([this] { echo(); });
    return port;
  }

  std::uint64_t received() const override { return received_.load(std::memory_order_relaxed); }
  std::size_t clients() const override { return socket_->connections(); }
  void publish(std::span<const std::byte> payload) override { socket_->send(payload); }

 private:
  static int protocol(Pattern pattern) {
    switch (pattern) {
      case Pattern::one_way: return NN_PULL;
      case Pattern::echo_blocking: return NN_REP;
      case Pattern::fan_out: return NN_PUB;
      default: throw std::runtime_error("this peer does not do this pattern");
    }
  }

  void count() {
    Message message;
    for (std::uint64_t received = 1;; ++received) {
      message.receive(*socket_);
      received_.store(received, std::memory_order_relaxed);
    }
  }

  void echo() {
    Message message;
    for (;;) {
      message.receive(*socket_);
      message.send(*socket_);
    }
  }

  std::unique_ptr<Socket> socket_;
  std::atomic<std::uint64_t> received_{0};
  std::thread thread_;
};

class Client final : public bench::ClientPeer {
 public:
  void connect(const Work& work) override {
    work_ = work;
    payload_ = bench::make_payload(work.size);
    bench::set_default_congestion(work.congestion);
    switch (work.pattern) {
      case Pattern::one_way: return connect_sockets(NN_PUSH, 1);
      case Pattern::echo_blocking: return connect_sockets(NN_REQ, work.threads);
      case Pattern::fan_out: return subscribe();
      default: throw std::runtime_error("this peer does not do this pattern");
    }
  }

  /// Any thread may send on a socket.
  std::uint64_t send_until(const bench::Stop& stop, std::size_t) override {
    std::uint64_t sent = 0;
    for (; !stop.load(std::memory_order_relaxed); ++sent) sockets_.front().send(payload_);
    return sent;
  }

  void round_trip(std::span<const std::byte> bytes, std::size_t thread) override {
    sockets_[thread].send(bytes);
    Message reply;
    reply.receive(sockets_[thread]);
    bench::check_reply(reply.size(), bytes.size());
  }

  std::uint64_t delivered() const override { return delivered_.load(std::memory_order_relaxed); }

 private:
  void connect_sockets(int protocol, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      sockets_.emplace_back(protocol).connect(bench::tcp_url(work_.host, work_.port));
    }
  }

  /// A connection for each client. As a process has at most 512 sockets, some have several.
  void subscribe() {
    const std::size_t socket_count = std::min(work_.connections, max_subscriber_sockets);
    for (std::size_t i = 0; i < socket_count; ++i) {
      checked(nn_setsockopt(sockets_.emplace_back(NN_SUB).get(), NN_SUB, NN_SUB_SUBSCRIBE, "", 0));
    }
    for (std::size_t i = 0; i < work_.connections; ++i) {
      sockets_[i % socket_count].connect(bench::tcp_url(work_.host, work_.port));
    }
    thread_ = std::thread([this] { receive_rounds(); });
  }

  void receive_rounds() {
    bench::EpollSet epoll;
    for (std::size_t i = 0; i < sockets_.size(); ++i) epoll.add(sockets_[i].descriptor(), i);
    Message message;
    std::uint64_t count = 0;
    for (;;) {
      epoll.wait([&](std::size_t i) {
        message.receive(sockets_[i]);
        delivered_.store(++count, std::memory_order_relaxed);
      });
    }
  }

  Work work_;
  std::vector<std::byte> payload_;
  std::deque<Socket> sockets_;
  std::atomic<std::uint64_t> delivered_{0};
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) { return bench::peer_main<Server, Client>(argc, argv, "nanomsg"); }
