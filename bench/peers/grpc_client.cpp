#include "peers/grpc_client.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "peers/default_congestion.hpp"
#include "peers/peer_support.hpp"

namespace bench {
namespace {

using bench_rpc::Nothing;
using bench_rpc::Payload;
using Stream = grpc::ClientReaderWriter<Payload, Payload>;

// Of fan_out: the server has a thread for each.
constexpr std::size_t max_followers = 200;

void check(const grpc::Status& status) {
  if (!status.ok()) throw std::runtime_error("grpc: " + status.error_message());
}

void check(bool ok) {
  if (!ok) throw std::runtime_error("grpc: the stream has ended");
}

std::shared_ptr<grpc::Channel> open_channel(const Work& work, std::size_t index) {
  grpc::ChannelArguments arguments;
  // Channels with equal arguments would share one connection.
  arguments.SetInt("bench.index", static_cast<int>(index));
  arguments.SetMaxReceiveMessageSize(-1);
  auto channel = grpc::CreateCustomChannel(
      work.host + ":" + std::to_string(work.port), grpc::InsecureChannelCredentials(), arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10))) {
    throw std::runtime_error("grpc: not connected");
  }
  return channel;
}

/// Writes requests as credit allows; those that can be written at once may leave together.
void write_requests(Stream& stream,
                    const Payload& payload,
                    std::counting_semaphore<>& credit,
                    OrderedTimer& timer,
                    const Stop& stop) {
  credit.acquire();
  while (!stop.load(std::memory_order_relaxed)) {
    const bool more = credit.try_acquire();
    timer.sent();
    stream.Write(payload, more ? grpc::WriteOptions().set_buffer_hint() : grpc::WriteOptions());
    if (!more) credit.acquire();
  }
  stream.WritesDone();
}

}  // namespace

void GrpcClient::connect(const Work& work) {
  if (work.pattern == Pattern::fan_out && work.connections > max_followers) {
    throw std::runtime_error("this peer serves at most " + std::to_string(max_followers) +
                             " clients: the server has a thread for each");
  }
  work_ = work;
  const auto payload = make_payload(work.size);
  payload_.set_data(payload.data(), payload.size());
  set_default_congestion(work.congestion);
  for (std::size_t i = 0; i < work.connections; ++i) {
    stubs_.push_back(bench_rpc::Bench::NewStub(open_channel(work, i)));
  }
  if (work.pattern == Pattern::fan_out) follow();
}

std::uint64_t GrpcClient::send_until(const Stop& stop, std::size_t) {
  grpc::ClientContext context;
  Nothing reply;
  const auto writer = stubs_.front()->Collect(&context, &reply);
  // The hint lets messages wait for others until the buffer is full.
  const auto options = grpc::WriteOptions().set_buffer_hint();
  std::uint64_t sent = 0;
  for (; !stop.load(std::memory_order_relaxed); ++sent) check(writer->Write(payload_, options));
  writer->WritesDone();
  check(writer->Finish());
  return sent;
}

void GrpcClient::round_trip(std::span<const std::byte> bytes, std::size_t) {
  grpc::ClientContext context;
  Payload request;
  Payload reply;
  request.set_data(bytes.data(), bytes.size());
  check(stubs_.front()->Echo(&context, request, &reply));
  check_reply(reply.data().size(), bytes.size());
}

std::uint64_t GrpcClient::echo_until(const Stop& stop, LatencyHistogram& latency) {
  std::vector<std::uint64_t> counts(stubs_.size());
  std::vector<LatencyHistogram> latencies(stubs_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < stubs_.size(); ++i) {
      threads.emplace_back([&, i] { counts[i] = echo_on(stubs_[i], stop, latencies[i]); });
    }
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < stubs_.size(); ++i) {
    sum += counts[i];
    latency.merge(latencies[i]);
  }
  return sum;
}

std::uint64_t GrpcClient::echo_on(const Stub& stub,
                                  const Stop& stop,
                                  LatencyHistogram& latency) const {
  grpc::ClientContext context;
  const auto stream = stub->EchoStream(&context);
  OrderedTimer timer(latency);
  std::counting_semaphore<> credit(static_cast<std::ptrdiff_t>(work_.window));
  std::jthread writer([&] { write_requests(*stream, payload_, credit, timer, stop); });
  std::uint64_t answers = 0;
  for (Payload reply; stream->Read(&reply); ++answers) {
    check_reply(reply.data().size(), work_.size);
    timer.answered();
    credit.release();
  }
  writer.join();
  check(stream->Finish());
  return answers;
}

void GrpcClient::follow() {
  for (const Stub& stub : stubs_) {
    Follower& follower = *followers_.emplace_back(std::make_unique<Follower>());
    follower.reader = stub->AsyncFollow(&follower.context, Nothing(), &queue_, &follower);
  }
  thread_ = std::thread([this] { receive_rounds(); });
}

void GrpcClient::receive_rounds() {
  void* tag = nullptr;
  bool ok = false;
  std::uint64_t count = 0;
  while (queue_.Next(&tag, &ok) && ok) {
    Follower& follower = *static_cast<Follower*>(tag);
    // The first event of each is the beginning of its stream.
    if (std::exchange(follower.started, true)) {
      delivered_.store(++count, std::memory_order_relaxed);
    }
    follower.reader->Read(&follower.payload, &follower);
  }
}

}  // namespace bench
