#include <benchmark/benchmark.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "on_io_thread.hpp"
#include "session/send_queue.hpp"

namespace ntcpmsg::detail {
namespace {

/// A connection that takes everything at once. Unlike the tests' scripted target it keeps nothing,
/// and has an I/O thread that looks after what is left behind.
class SwallowingTarget final : public WriteTarget {
 public:
  SwallowingTarget(SendQueue& queue, IoThread& io_thread)
      : queue_(queue), io_thread_(io_thread), timer_(io_thread.context()) {}

  std::size_t write_some(BytesView bytes, error_code& /*ec*/) noexcept override {
    benchmark::DoNotOptimize(bytes.data());
    return bytes.size();
  }
  void schedule_flush(std::chrono::microseconds delay) override {
    boost::asio::post(io_thread_.context(), [this, delay] {
      if (delay.count() == 0) return queue_.flush();
      timer_.expires_after(delay);
      timer_.async_wait([this](const error_code& ec) {
        if (!ec) queue_.flush();
      });
    });
  }
  void wait_writable() override {}
  void write_failed(error_code /*ec*/) override {}
  void queue_drained() override {}
  void trim_later() override {}

 private:
  SendQueue& queue_;
  IoThread& io_thread_;
  boost::asio::steady_timer timer_;
};

struct Connection {
  Connection() {
    running.run([this] { queue.attach(target); });
  }
  ~Connection() {
    running.run([this] { queue.detach(); });
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::shared_ptr<IoThread> io_thread = std::make_shared<IoThread>(0);
  SendQueue queue{{}, io_thread};
  SwallowingTarget target{queue, *io_thread};
  // Last, so that the thread has ended before what it uses.
  test::RunningIoThread running{io_thread};
};

/// The one that all threads of a benchmark send to.
std::unique_ptr<Connection> connection;

void connect(const benchmark::State& /*state*/) { connection = std::make_unique<Connection>(); }
void disconnect(const benchmark::State& /*state*/) { connection.reset(); }

/// Appends as a sending client does; the threads write whole batches themselves.
void append_in_burst(benchmark::State& state) {
  SendQueue& queue = connection->queue;
  const Bytes payload(static_cast<std::size_t>(state.range(0)), std::byte{1});
  for (auto _ : state) {
    if (queue.append_in_burst({.event = 7}, payload)) continue;
    if (queue.append({.event = 7}, payload)) state.SkipWithError("a message was refused");
  }
  state.SetItemsProcessed(state.iterations());
}

/// The buffer alone: no lock, nobody to decide.
void append_to_buffer(benchmark::State& state) {
  constexpr std::size_t batch = 64 * 1024;
  OutboundBuffer buffer;
  const Bytes payload(static_cast<std::size_t>(state.range(0)), std::byte{1});
  const FrameHeader header{.event = 7, .length = static_cast<std::uint32_t>(payload.size())};
  for (auto _ : state) {
    buffer.append(header, payload);
    if (buffer.gathered() >= batch) buffer.consume(buffer.next_chunk().size());
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(append_to_buffer)->ArgName("size")->Arg(4)->Arg(64);
BENCHMARK(append_in_burst)
    ->ArgName("size")
    ->Arg(4)
    ->Arg(64)
    ->Threads(1)
    ->Threads(2)
    ->Threads(4)
    ->UseRealTime()
    ->Setup(connect)
    ->Teardown(disconnect);

}  // namespace
}  // namespace ntcpmsg::detail
