#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bench.grpc.pb.h"
#include "harness/peer.hpp"

namespace bench {

/// Streams are served by gRPC's threads; single calls by a completion queue with a thread of its
/// own, which takes less per call.
class GrpcServer final : public ServerPeer {
 public:
  std::uint16_t listen(const Work& work) override;
  std::uint64_t received() const override { return service_.received.load(); }
  std::size_t clients() const override { return service_.clients.load(); }
  void publish(std::span<const std::byte> payload) override { service_.publish(payload); }

 private:
  class Service final : public bench_rpc::Bench::WithAsyncMethod_Echo<bench_rpc::Bench::Service> {
   public:
    grpc::Status Collect(grpc::ServerContext* context,
                         grpc::ServerReader<bench_rpc::Payload>* reader,
                         bench_rpc::Nothing* reply) override;
    grpc::Status EchoStream(
        grpc::ServerContext* context,
        grpc::ServerReaderWriter<bench_rpc::Payload, bench_rpc::Payload>* stream) override;
    grpc::Status Follow(grpc::ServerContext* context,
                        const bench_rpc::Nothing* request,
                        grpc::ServerWriter<bench_rpc::Payload>* writer) override;

    void publish(std::span<const std::byte> payload);

    std::atomic<std::uint64_t> received{0};
    std::atomic<std::size_t> clients{0};

   private:
    std::uint64_t await_rounds(std::uint64_t written);

    std::mutex mutex_;
    std::condition_variable published_;
    /// The same payload each time, as the harness has it.
    bench_rpc::Payload payload_;
    std::uint64_t rounds_ = 0;
  };

  /// One call at a time, reused.
  class EchoCall {
   public:
    EchoCall(Service& service, grpc::ServerCompletionQueue& queue)
        : service_(service), queue_(queue) {
      await_request();
    }
    /// The operation under way has ended.
    void proceed();

   private:
    void await_request();

    Service& service_;
    grpc::ServerCompletionQueue& queue_;
    std::unique_ptr<grpc::ServerContext> context_;
    std::unique_ptr<grpc::ServerAsyncResponseWriter<bench_rpc::Payload>> writer_;
    bench_rpc::Payload request_;
    bool answering_ = false;
  };

  void serve_calls();

  Service service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::unique_ptr<EchoCall>> calls_;
  std::thread thread_;
};

}  // namespace bench
