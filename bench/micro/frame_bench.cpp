#include <benchmark/benchmark.h>

#include <array>

#include "frames.hpp"

namespace ntcpmsg::detail {
namespace {

void encode_one_header(benchmark::State& state) {
  std::array<std::byte, frame_header_size> bytes{};
  FrameHeader header{.event = 7, .cable_id = 3, .length = 64};
  for (auto _ : state) {
    ++header.channel;
    encode_header(header, bytes.data());
    benchmark::DoNotOptimize(bytes);
  }
  state.SetItemsProcessed(state.iterations());
}

void decode_one_header(benchmark::State& state) {
  std::array<std::byte, frame_header_size> bytes{};
  encode_header({.event = 7, .cable_id = 3, .channel = 9, .length = 64}, bytes.data());
  for (auto _ : state) {
    benchmark::DoNotOptimize(bytes);
    benchmark::DoNotOptimize(decode_header(bytes.data()));
  }
  state.SetItemsProcessed(state.iterations());
}

/// Whole frames, as many as fit into a read of 64 KiB.
Bytes run_of_frames(std::size_t payload_size) {
  constexpr std::size_t run_size = 64 * 1024;
  const Bytes payload(payload_size, std::byte{1});
  const std::size_t frame_size = frame_header_size + payload_size;
  Bytes run;
  while (run.size() + frame_size <= run_size) {
    test::append_frame(run, test::header_for(payload, 0, 7), payload);
  }
  return run;
}

void encode_run(benchmark::State& state) {
  const Bytes payload(static_cast<std::size_t>(state.range(0)), std::byte{1});
  Bytes run = run_of_frames(payload.size());
  const std::size_t frame_size = frame_header_size + payload.size();
  const FrameHeader header = test::header_for(payload, 0, 7);
  std::int64_t frames = 0;
  for (auto _ : state) {
    for (std::size_t at = 0; at < run.size(); at += frame_size) {
      encode_frame(header, payload, run.data() + at);
      ++frames;
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(frames);
}

void decode_run(benchmark::State& state) {
  const Bytes run = run_of_frames(static_cast<std::size_t>(state.range(0)));
  std::array<Frame, 64> frames;
  std::int64_t decoded = 0;
  for (auto _ : state) {
    BytesView rest = run;
    while (!rest.empty()) {
      const DecodeResult result = decode_frames(rest, frames, max_payload_size);
      benchmark::DoNotOptimize(frames);
      rest = rest.subspan(result.consumed);
      decoded += static_cast<std::int64_t>(result.frames);
    }
  }
  state.SetItemsProcessed(decoded);
}

BENCHMARK(encode_one_header);
BENCHMARK(decode_one_header);
BENCHMARK(encode_run)->ArgName("size")->Arg(4)->Arg(64);
BENCHMARK(decode_run)->ArgName("size")->Arg(4)->Arg(64);

}  // namespace
}  // namespace ntcpmsg::detail
