#include "stats_printer.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "test_support/process_usage.hpp"
#include "test_support/units.hpp"

namespace server_test {

StatsPrinter::StatsPrinter()
    : last_cpu_seconds_(test_support::process_cpu_seconds()),
      last_time_(std::chrono::steady_clock::now()) {}

void StatsPrinter::print(const ntcpmsg::Statistics& now) {
  const auto time = std::chrono::steady_clock::now();
  const double cpu_seconds = test_support::process_cpu_seconds();
  const double seconds = std::chrono::duration<double>(time - last_time_).count();
  const auto rate = [seconds](std::uint64_t after, std::uint64_t before, std::string_view unit) {
    return test_support::with_unit(static_cast<double>(after - before) / seconds, unit);
  };
  fmt::print("sessions {}  cables {}  in {} {}  out {} {}  cpu {:.0f}%\n",
             now.sessions,
             now.cables,
             rate(now.messages_received, last_.messages_received, "msg/s"),
             rate(now.bytes_received, last_.bytes_received, "B/s"),
             rate(now.messages_sent, last_.messages_sent, "msg/s"),
             rate(now.bytes_sent, last_.bytes_sent, "B/s"),
             100 * (cpu_seconds - last_cpu_seconds_) / seconds);
  std::fflush(stdout);
  last_ = now;
  last_cpu_seconds_ = cpu_seconds;
  last_time_ = time;
}

}  // namespace server_test
