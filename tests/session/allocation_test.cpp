// Memory: what a message takes from the heap, and what a connection holds.

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/address_v4.hpp>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "ntcpmsg/ntcpmsg.hpp"
#include "waiting.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* counted(std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(std::max<std::size_t>(size, 1));
}

}  // namespace

// The array forms call these. The one without exceptions is here because a sanitizer brings its
// own, whose memory the operators below must not free. Not inlined, so that the compiler sees
// pairs of new and delete rather than of new and free.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* const memory = counted(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return counted(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace ntcpmsg::test {
namespace {

constexpr std::uint32_t note = 1;
constexpr std::uint32_t echo = 2;

/// A listener and a client in this process, so that both sides' allocations count.
class AllocationTest : public testing::Test {
 protected:
  AllocationTest() {
    listener_.on_received([this](Message& message) {
      if (message.wants_reply()) return message.reply(message.payload());
      received_.fetch_add(1);
    });
    endpoint_ = listener_.listen(any_port());
    client_ = std::make_unique<SingleConnection>(endpoint_);
    client_->on_received([this](Message&) { pushed_.fetch_add(1); });
    client_->connect();
  }

  static Endpoint any_port() { return {boost::asio::ip::address_v4::loopback(), 0}; }

  /// Does `step` until buffers have grown to what they need, then counts what `step` allocates.
  template <typename Step>
  static std::uint64_t allocations_of(Step step) {
    step();
    step();
    const std::uint64_t before = allocations.load();
    step();
    return allocations.load() - before;
  }

  void await(const std::atomic<std::uint64_t>& counter, std::uint64_t count) {
    ASSERT_TRUE(wait_until([&] { return counter.load() >= count; }));
  }

  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> pushed_{0};
  Listener listener_;
  Endpoint endpoint_;
  std::unique_ptr<SingleConnection> client_;
};

constexpr std::uint64_t many = 200'000;
// A buffer that grows for a moment of congestion; far from one per message.
constexpr std::uint64_t few = many / 10'000;

TEST_F(AllocationTest, messages_in_a_burst_take_nothing_from_the_heap) {
  std::uint64_t sent = 0;
  const auto burst = [&] {
    for (std::uint64_t i = 0; i < many; ++i) client_->async_send(note, as_bytes("abcd"));
    await(received_, sent += many);
  };
  EXPECT_LE(allocations_of(burst), few);
}

TEST_F(AllocationTest, messages_that_each_wake_somebody_take_nothing_from_the_heap) {
  constexpr std::uint64_t count = 2000;
  std::uint64_t sent = 0;
  const auto one_by_one = [&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      // The second finds a connection that was just written to, and leaves by the I/O thread.
      client_->async_send(note, as_bytes("abcd"));
      client_->async_send(note, as_bytes("abcd"));
      await(received_, sent += 2);
    }
  };
  EXPECT_LE(allocations_of(one_by_one), 2U);
}

TEST_F(AllocationTest, a_blocking_request_takes_nothing_from_the_heap) {
  Bytes reply;
  const auto ask = [&] {
    for (int i = 0; i < 2000; ++i) client_->sync_send(echo, as_bytes("question"), reply);
  };
  EXPECT_LE(allocations_of(ask), 2U);
}

/// Keeps a window of requests in flight from their own callbacks.
class Window {
 public:
  Window(SingleConnection& client, std::uint64_t requests) : client_(client), left_(requests) {}

  void run(int in_flight) {
    in_flight_ = in_flight;
    for (int i = 0; i < in_flight; ++i) ask();
    ASSERT_TRUE(done_.wait());
  }

 private:
  void ask() {
    client_.async_request<BytesView>(
        echo, as_bytes("question"), 10s, [this](error_code, BytesView) {
          if (left_.fetch_sub(1) > 0) return ask();
          if (in_flight_.fetch_sub(1) == 1) done_.count_down();
        });
  }

  SingleConnection& client_;
  std::atomic<std::int64_t> left_;
  std::atomic<int> in_flight_{0};
  Latch done_;
};

TEST_F(AllocationTest, requests_with_a_callback_take_nothing_from_the_heap) {
  const auto ask = [&] { Window(*client_, many).run(64); };
  EXPECT_LE(allocations_of(ask), few);
}

TEST_F(AllocationTest, a_broadcast_takes_nothing_from_the_heap) {
  constexpr std::uint64_t count = 20'000;
  std::uint64_t sent = 0;
  const auto push = [&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      // Never waits, so what finds no room is sent again.
      while (listener_.broadcast(note, as_bytes("news")) == 0) std::this_thread::yield();
    }
    await(pushed_, sent += count);
  };
  EXPECT_LE(allocations_of(push), count / 200);
}

std::size_t heap_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// As many connections as descriptors allow, up to 10,000.
std::size_t affordable_connections() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t others = 100;
  // One at either end.
  return std::min<rlim_t>(10'000, (limit.rlim_cur - others) / 2);
}

/// Connected sockets that take nothing from the heap, so that all that is counted is the library's.
class BareClients {
 public:
  explicit BareClients(const Endpoint& server) : server_(server) { sockets_.reserve(10'000); }
  BareClients(const BareClients&) = delete;
  BareClients& operator=(const BareClients&) = delete;
  ~BareClients() {
    for (const int socket : sockets_) ::close(socket);
  }

  void add_until(std::size_t count) {
    while (sockets_.size() < count) {
      sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      ASSERT_EQ(::connect(sockets_.back(), server_.data(), static_cast<socklen_t>(server_.size())),
                0);
    }
  }

  void read_each(std::span<std::byte> into) {
    for (const int socket : sockets_) {
      ASSERT_EQ(::recv(socket, into.data(), into.size(), MSG_WAITALL),
                static_cast<ssize_t>(into.size()));
    }
  }

 private:
  Endpoint server_;
  std::vector<int> sockets_;
};

/// A listener with many idle connections.
class Crowd {
 public:
  Crowd() : clients(listener.listen({boost::asio::ip::address_v4::loopback(), 0})) {
    connect(count_ / 10);
    first_ = heap_in_use();
    connect(count_);
  }

  std::size_t heap_per_connection() const {
    return (heap_in_use() - first_) / (count_ - count_ / 10);
  }

  Listener listener;
  BareClients clients;

 private:
  void connect(std::size_t until) {
    clients.add_until(until);
    EXPECT_TRUE(wait_until([&] { return listener.statistics().sessions == until; }));
  }

  std::size_t count_ = affordable_connections();
  std::size_t first_ = 0;
};

class ConnectionMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers have a heap of their own";
#endif
  }

  static constexpr std::size_t allowed = 2048;
};

TEST_F(ConnectionMemoryTest, an_idle_connection_of_a_listener_holds_less_than_2_kib) {
  const Crowd crowd;
  EXPECT_LT(crowd.heap_per_connection(), allowed);
}

TEST_F(ConnectionMemoryTest, one_that_was_used_gives_back_what_it_needed_when_idle_again) {
  Crowd crowd;
  Bytes frame(16 + 5000);
  crowd.listener.broadcast(note, BytesView(frame).subspan(16));
  crowd.clients.read_each(frame);
  EXPECT_GT(crowd.heap_per_connection(), allowed) << "it needed something";
  EXPECT_TRUE(wait_until([&] { return crowd.heap_per_connection() < allowed; }))
      << crowd.heap_per_connection();
}

}  // namespace
}  // namespace ntcpmsg::test
