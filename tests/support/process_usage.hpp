#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <vector>

#include "scripted_peer.hpp"

namespace ntcpmsg::test {

/// Bytes of memory this process has in RAM.
inline std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Processor time that this process has used, in all threads.
inline std::chrono::milliseconds processor_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return std::chrono::duration_cast<std::chrono::milliseconds>(of(usage.ru_utime) +
                                                               of(usage.ru_stime));
}

/// Lets this process have as many descriptors as it may. False when that is fewer than `least`.
inline bool allow_descriptors(rlim_t least) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur >= least;
}

/// Until it is destroyed this process cannot open anything.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    fillers_.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(fillers_.back().get()) + 8;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    for (;;) {
      Descriptor filler(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (filler.get() < 0) return;
      fillers_.push_back(std::move(filler));
    }
  }
  ~NoDescriptorsLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptorsLeft(const NoDescriptorsLeft&) = delete;
  NoDescriptorsLeft& operator=(const NoDescriptorsLeft&) = delete;

 private:
  rlimit before_{};
  std::vector<Descriptor> fillers_;
};

}  // namespace ntcpmsg::test
