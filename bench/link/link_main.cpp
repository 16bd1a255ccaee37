// A long-distance link between two network namespaces of this machine, for kernels without netem.

#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "link/relay.hpp"
#include "test_support/command_line.hpp"
#include "test_support/exit_code.hpp"
#include "test_support/process_usage.hpp"

namespace bench {
namespace {

struct CommandLine {
  std::string namespace_a;
  std::string namespace_b;
  std::string interface = "link0";
  double delay_ms = 10;
  double loss = 0.001;
  double rate_mbit = 1000;
  std::size_t queue_packets = 0;
  std::size_t mtu = 1500;
  std::uint64_t seed = 1;
};

void add_options(CLI::App& app, CommandLine& line) {
  app.add_option("--namespace-a", line.namespace_a, "one side, a name of 'ip netns'")->required();
  app.add_option("--namespace-b", line.namespace_b, "the other side")->required();
  app.add_option("--interface", line.interface, "name of the interface on both sides")
      ->capture_default_str();
  app.add_option("--delay", line.delay_ms, "ms one way, half of the round trip")
      ->check(CLI::Range(0.0, 10'000.0))
      ->check(test_support::check_not_nan)
      ->capture_default_str();
  app.add_option("--loss", line.loss, "part of the packets lost, each direction, 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->check(test_support::check_not_nan)
      ->capture_default_str();
  app.add_option("--rate-mbit", line.rate_mbit, "Mbit/s each direction, 0: unlimited")
      ->check(CLI::Range(0.0, 100'000.0))
      ->check(test_support::check_not_nan)
      ->capture_default_str();
  app.add_option(
         "--queue-packets",
         line.queue_packets,
         "full-size packets that wait for the line, 0: what the rate carries in a round trip")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--mtu", line.mtu, "largest packet in bytes")
      ->check(CLI::Range(std::size_t{576}, std::size_t{65'535}))
      ->capture_default_str();
  app.add_option("--seed", line.seed, "decides which packets are lost")->capture_default_str();
}

/// So that one connection without loss can fill the link.
std::size_t packets_per_round_trip(const LinkOptions& options) {
  constexpr std::size_t at_least = 100;
  const double seconds = 2 * std::chrono::duration<double>(options.delay).count();
  const double bytes = static_cast<double>(options.bits_per_second) / 8 * seconds;
  return at_least + static_cast<std::size_t>(bytes / static_cast<double>(options.mtu));
}

LinkOptions link_options(const CommandLine& line) {
  LinkOptions options{
      .delay = std::chrono::nanoseconds(std::llround(line.delay_ms * 1'000'000)),
      .loss = line.loss,
      .bits_per_second = static_cast<std::uint64_t>(std::llround(line.rate_mbit * 1'000'000)),
      .queue_packets = line.queue_packets,
      .mtu = line.mtu,
      .seed = line.seed};
  if (options.queue_packets == 0) options.queue_packets = packets_per_round_trip(options);
  return options;
}

/// A descriptor that can be read when the program shall end.
Descriptor watch_end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  Descriptor watch(::signalfd(-1, &signals, SFD_CLOEXEC));
  if (watch.get() < 0) throw std::system_error(errno, std::system_category(), "signalfd");
  // Whoever started the link may be killed without a chance to end it.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  return watch;
}

/// A link does not wait for a processor, however busy the programs measured keep the machine.
void take_precedence() {
  constexpr unsigned long shortest_timer_slack_ns = 1;
  ::prctl(PR_SET_TIMERSLACK, shortest_timer_slack_ns);
  const sched_param lowest{.sched_priority = ::sched_get_priority_min(SCHED_RR)};
  if (::sched_setscheduler(0, SCHED_RR, &lowest) != 0) {
    test_support::print_error("bench_link", "no real-time priority; delays are less precise");
  }
}

int link_main(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app("Joins two network namespaces by a link with delay, loss and limited rate.");
  add_options(app, line);
  if (const auto code = test_support::parse_command_line(app, argc, argv)) return *code;
  const Descriptor end_signal = watch_end_signals();
  take_precedence();
  Relay relay(line.namespace_a, line.namespace_b, line.interface, link_options(line));
  std::cout << "ready" << std::endl;
  relay.run(end_signal.get());
  nlohmann::ordered_json counters{{"a_to_b", relay.a_to_b()},
                                  {"b_to_a", relay.b_to_a()},
                                  {"cpu_seconds", test_support::process_cpu_seconds()}};
  std::cout << counters.dump() << std::endl;
  return test_support::exit_success;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  return bench::link_main(argc, argv);
} catch (const std::exception& e) {
  test_support::print_error("bench_link", e.what());
  return test_support::exit_failure;
}
