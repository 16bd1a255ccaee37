#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "bench.grpc.pb.h"
#include "harness/peer.hpp"
#include "peers/ordered_timer.hpp"

namespace bench {

/// Connections are channels. Threads that send one way have a stream each on the first one; a
/// window of echoes is a stream in both directions.
class GrpcClient final : public ClientPeer {
 public:
  void connect(const Work& work) override;
  std::uint64_t send_until(const Stop& stop, std::size_t thread) override;
  void round_trip(std::span<const std::byte> bytes, std::size_t thread) override;
  std::uint64_t echo_until(const Stop& stop, LatencyHistogram& latency) override;
  std::uint64_t delivered() const override { return delivered_.load(std::memory_order_relaxed); }

 private:
  using Stub = std::unique_ptr<bench_rpc::Bench::Stub>;

  /// A subscription of fan_out.
  struct Follower {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientAsyncReader<bench_rpc::Payload>> reader;
    bench_rpc::Payload payload;
    bool started = false;
  };

  std::uint64_t echo_on(const Stub& stub, const Stop& stop, LatencyHistogram& latency) const;
  void follow();
  void receive_rounds();

  Work work_;
  bench_rpc::Payload payload_;
  std::vector<Stub> stubs_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Follower>> followers_;
  std::atomic<std::uint64_t> delivered_{0};
  std::thread thread_;
};

}  // namespace bench
