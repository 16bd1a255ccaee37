#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ntcpmsg::test {

/// How the proxy breaks a connection.
enum class Cut {
  none,
  /// Both ends get a reset.
  reset,
  /// Both ends get an orderly end of stream; what they still send is thrown away.
  close,
  /// The receiving end of the direction gets an end of stream; the other direction goes on.
  half_close,
  /// What comes, from either end, disappears without a word.
  black_hole,
  /// The direction is not read any more, so that its sender's buffers fill up.
  stall,
};

/// What happens to the bytes that go one way.
struct FlowFault {
  Cut cut = Cut::none;
  /// The cut comes when exactly this many bytes were passed on.
  std::uint64_t cut_after = 0;
  /// Each piece is held for this long before it is passed on.
  std::chrono::milliseconds delay{0};
  /// 0: as fast as it goes.
  std::uint64_t bytes_per_second = 0;
  /// Bytes read and passed on at a time; 1: every byte alone.
  std::size_t largest_piece = SIZE_MAX;
};

/// What happens to one connection.
struct FaultPlan {
  /// From the client, who connected to the proxy, to the server.
  FlowFault up = {};
  FlowFault down = {};
  /// Size of the kernel's buffers on the proxy's side; 0: what the system takes.
  int buffer_bytes = 0;
};

/// Passes TCP connections on to a server and breaks them as told. Runs on a thread of its own.
/// Everything is thread-safe.
class FaultProxy {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;
  /// Plans connection number `index`, counted from 0. Called on the proxy's thread.
  using Planner = std::function<FaultPlan(std::size_t index)>;

  /// Listens on `local`, by default on a port of loopback that the system chooses.
  explicit FaultProxy(const Endpoint& target,
                      Planner planner = {},
                      const Endpoint& local = {boost::asio::ip::address_v4::loopback(), 0});
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  /// Where clients connect.
  const Endpoint& endpoint() const noexcept { return local_; }
  /// For connections accepted from now on.
  void set_planner(Planner planner);
  void set_plan(const FaultPlan& plan);
  /// Breaks every connection there is; returns when it is done. `half_close` and `stall` mean the
  /// direction up.
  void cut_all(Cut cut);

  /// Connections accepted so far.
  std::size_t accepted() const noexcept { return accepted_; }
  /// Connections broken on purpose so far.
  std::size_t cuts() const noexcept { return cuts_; }

 private:
  class Connection;

  void accept();
  FaultPlan plan(std::size_t index);

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::ip::tcp::acceptor acceptor_;
  Endpoint target_;
  Endpoint local_;
  std::mutex mutex_;
  Planner planner_;
  std::vector<std::weak_ptr<Connection>> connections_;
  std::atomic<std::size_t> accepted_{0};
  std::atomic<std::size_t> cuts_{0};
  std::thread thread_;
};

}  // namespace ntcpmsg::test
