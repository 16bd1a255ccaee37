#include "peers/grpc_server.hpp"

#include <stdexcept>

#include "peers/default_congestion.hpp"

namespace bench {
namespace {

using bench_rpc::Nothing;
using bench_rpc::Payload;

// Calls that can begin while others are answered.
constexpr std::size_t waiting_calls = 128;

}  // namespace

std::uint16_t GrpcServer::listen(const Work& work) {
  if (work.pattern == Pattern::beside_bulk) {
    throw std::runtime_error("this peer does not do beside-bulk");
  }
  set_default_congestion(work.congestion);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(work.host + ":0", grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(&service_);
  queue_ = builder.AddCompletionQueue();
  server_ = builder.BuildAndStart();
  if (!server_) throw std::runtime_error("grpc: the server did not start");
  for (std::size_t i = 0; i < waiting_calls; ++i) {
    calls_.push_back(std::make_unique<EchoCall>(service_, *queue_));
  }
  thread_ = std::thread([this] { serve_calls(); });
  return static_cast<std::uint16_t>(port);
}

void GrpcServer::serve_calls() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<EchoCall*>(tag)->proceed();
}

void GrpcServer::EchoCall::proceed() {
  if (answering_) return await_request();
  answering_ = true;
  writer_->Finish(request_, grpc::Status::OK, this);
}

void GrpcServer::EchoCall::await_request() {
  answering_ = false;
  // The writer refers to the context, so it goes first.
  writer_.reset();
  context_ = std::make_unique<grpc::ServerContext>();
  writer_ = std::make_unique<grpc::ServerAsyncResponseWriter<Payload>>(context_.get());
  service_.RequestEcho(context_.get(), &request_, writer_.get(), &queue_, &queue_, this);
}

grpc::Status GrpcServer::Service::Collect(grpc::ServerContext*,
                                          grpc::ServerReader<Payload>* reader,
                                          Nothing*) {
  Payload payload;
  while (reader->Read(&payload)) received.fetch_add(1, std::memory_order_relaxed);
  return grpc::Status::OK;
}

grpc::Status GrpcServer::Service::EchoStream(grpc::ServerContext*,
                                             grpc::ServerReaderWriter<Payload, Payload>* stream) {
  Payload payload;
  while (stream->Read(&payload) && stream->Write(payload)) {
  }
  return grpc::Status::OK;
}

/// Without buffer hints: of gRPC 1.51 messages got stuck with them, and it was not faster.
grpc::Status GrpcServer::Service::Follow(grpc::ServerContext*,
                                         const Nothing*,
                                         grpc::ServerWriter<Payload>* writer) {
  std::uint64_t written = 0;
  {
    const std::lock_guard guard(mutex_);
    written = rounds_;
  }
  clients.fetch_add(1);
  for (;;) {
    for (const std::uint64_t rounds = await_rounds(written); written < rounds; ++written) {
      if (!writer->Write(payload_)) return grpc::Status::CANCELLED;
    }
  }
}

std::uint64_t GrpcServer::Service::await_rounds(std::uint64_t written) {
  std::unique_lock lock(mutex_);
  published_.wait(lock, [&] { return rounds_ > written; });
  return rounds_;
}

void GrpcServer::Service::publish(std::span<const std::byte> payload) {
  {
    const std::lock_guard guard(mutex_);
    if (payload_.data().empty()) payload_.set_data(payload.data(), payload.size());
    ++rounds_;
  }
  published_.notify_all();
}

}  // namespace bench
