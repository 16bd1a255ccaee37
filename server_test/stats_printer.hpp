#pragma once

#include <chrono>
#include <ntcpmsg/statistics.hpp>

namespace server_test {

/// Prints what went through since its last line.
class StatsPrinter {
 public:
  StatsPrinter();

  void print(const ntcpmsg::Statistics& now);

 private:
  ntcpmsg::Statistics last_;
  double last_cpu_seconds_;
  std::chrono::steady_clock::time_point last_time_;
};

}  // namespace server_test
