#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace ntcpmsg::test {

inline pid_t this_thread_id() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

/// Returns when the kernel has put another thread of this process to sleep, true, or after ten
/// seconds, false.
inline bool await_sleep_of(pid_t thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    std::string line;
    std::getline(std::ifstream(path), line);
    // "<tid> (<name>) <state> ..."; the name may contain anything.
    const std::size_t name_end = line.rfind(") ");
    if (name_end != std::string::npos && line.compare(name_end + 2, 1, "S") == 0) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace ntcpmsg::test
