#include "harness/client_side.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "harness/usage.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::chrono::seconds client_patience{20};
// fan_out: credit is given for this many rounds at once, looked at this often.
constexpr std::uint64_t rounds_per_credit = 8;
constexpr std::chrono::microseconds credit_interval{100};

/// What a phase (warm-up or measurement) did.
struct Phase {
  std::uint64_t messages = 0;
  std::uint64_t lost = 0;
  LatencyHistogram latency;
};

/// Runs `body(thread, stop)` on `count` threads for `time`; the first exception is thrown here.
void run_threads(std::size_t count,
                 Seconds time,
                 const std::function<void(std::size_t, const Stop&)>& body) {
  Stop stop{false};
  std::vector<std::exception_ptr> failures(count);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      try {
        body(i, stop);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  std::this_thread::sleep_for(time);
  stop = true;
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

/// One thread's round trips, one after the other, not more often than every `pace`.
std::uint64_t time_round_trips(ClientPeer& peer,
                               std::size_t thread,
                               std::size_t size,
                               std::chrono::nanoseconds pace,
                               const Stop& stop,
                               LatencyHistogram& latency) {
  const auto payload = make_payload(size);
  std::uint64_t count = 0;
  for (; !stop.load(std::memory_order_relaxed); ++count) {
    const auto begin = Clock::now();
    peer.round_trip(payload, thread);
    const auto took = Clock::now() - begin;
    latency.record(static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
    if (took < pace) std::this_thread::sleep_for(pace - took);
  }
  return count;
}

class Run {
 public:
  Run(Control& control, ClientPeer& peer, const Work& work)
      : control_(control), peer_(peer), work_(work) {}

  Phase phase(Seconds time) {
    switch (work_.pattern) {
      case Pattern::one_way: return one_way(time);
      case Pattern::echo_blocking: return echo_blocking(time);
      case Pattern::echo_window: return echo_window(time);
      case Pattern::fan_out: return fan_out(time);
      case Pattern::beside_bulk: return beside_bulk(time);
    }
    throw std::logic_error("unknown pattern");
  }

 private:
  Phase one_way(Seconds time) {
    std::vector<std::uint64_t> counts(work_.threads);
    run_threads(work_.threads, time, [&](std::size_t thread, const Stop& stop) {
      counts[thread] = peer_.send_until(stop, thread);
    });
    peer_.flush();
    Phase phase;
    for (const std::uint64_t count : counts) phase.messages += count;
    sent_ += phase.messages;
    const auto received = std::stoull(control_.ask("await " + std::to_string(sent_)));
    phase.lost = sent_ - received;
    return phase;
  }

  Phase echo_blocking(Seconds time) {
    std::vector<Phase> phases(work_.threads);
    run_threads(work_.threads, time, [&](std::size_t thread, const Stop& stop) {
      Phase& mine = phases[thread];
      mine.messages = time_round_trips(peer_, thread, work_.size, {}, stop, mine.latency);
    });
    Phase sum;
    for (const Phase& phase : phases) {
      sum.messages += phase.messages;
      sum.latency.merge(phase.latency);
    }
    return sum;
  }

  Phase echo_window(Seconds time) {
    Phase phase;
    run_threads(1, time, [&](std::size_t, const Stop& stop) {
      phase.messages = peer_.echo_until(stop, phase.latency);
    });
    return phase;
  }

  Phase beside_bulk(Seconds time) {
    Phase phase;
    run_threads(2, time, [&](std::size_t thread, const Stop& stop) {
      if (thread == 0) {
        sent_ += peer_.send_until(stop, 0);
        return;
      }
      phase.messages = time_round_trips(peer_, 1, small_size, work_.pace, stop, phase.latency);
    });
    peer_.flush();
    return phase;
  }

  Phase fan_out(Seconds time) {
    const std::uint64_t delivered_before = peer_.delivered();
    const std::uint64_t step = work_.connections * rounds_per_credit;
    control_.ask("publish " + std::to_string(work_.window));
    std::uint64_t credited = 0;
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
      std::this_thread::sleep_for(credit_interval);
      const std::uint64_t steps = (peer_.delivered() - delivered_before) / step;
      if (steps == credited) continue;
      control_.write_line("credit " + std::to_string((steps - credited) * rounds_per_credit));
      credited = steps;
    }
    const std::uint64_t rounds = std::stoull(control_.ask("pause"));
    const std::uint64_t wanted = rounds * work_.connections;
    const auto deadline = Clock::now() + client_patience;
    while (peer_.delivered() - delivered_before < wanted && Clock::now() < deadline) {
      std::this_thread::sleep_for(credit_interval);
    }
    Phase phase;
    phase.messages = peer_.delivered() - delivered_before;
    phase.lost = wanted - phase.messages;
    return phase;
  }

  Control& control_;
  ClientPeer& peer_;
  const Work& work_;
  std::uint64_t sent_ = 0;
};

void await_clients(Control& control, const Work& work) {
  if (work.pattern != Pattern::fan_out) return;
  const auto deadline = Clock::now() + client_patience;
  while (std::stoull(control.ask("clients")) < work.connections) {
    if (Clock::now() > deadline) throw std::runtime_error("the clients are not connected");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

nlohmann::ordered_json latency_json(const LatencyHistogram& latency) {
  const auto microseconds = [&](double part) {
    return static_cast<double>(latency.quantile(part)) / 1e3;
  };
  return {{"p50", microseconds(0.5)},
          {"p90", microseconds(0.9)},
          {"p99", microseconds(0.99)},
          {"p99_9", microseconds(0.999)},
          {"max", microseconds(1)}};
}

}  // namespace

nlohmann::ordered_json run_client(Control& control, ClientPeer& peer, const Work& work) {
  peer.connect(work);
  await_clients(control, work);
  Run run(control, peer, work);
  run.phase(work.warm_up);
  control.ask("begin");
  const Usage usage_begin = Usage::now();
  const auto begin = Clock::now();
  const Phase phase = run.phase(work.seconds);
  const Seconds seconds = Clock::now() - begin;
  const Usage client = Usage::now() - usage_begin;
  const auto server = nlohmann::ordered_json::parse(control.ask("end"));

  nlohmann::ordered_json result{{"messages", phase.messages},
                                {"lost", phase.lost},
                                {"seconds", seconds.count()},
                                {"rate", static_cast<double>(phase.messages) / seconds.count()},
                                {"client", client},
                                {"server", server}};
  if (phase.latency.count() != 0) result["latency_us"] = latency_json(phase.latency);
  return result;
}

}  // namespace bench
