// Counts the calls of the C library that write to and read from descriptors. Preloaded into the
// programs that are measured, whatever library does their work.

#include "harness/syscall_counter.hpp"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<std::uint64_t> writes{0};
std::atomic<std::uint64_t> reads{0};

void count_call(std::atomic<std::uint64_t>& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

/// The function of the same name that this one hides.
template <typename Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#define COUNTED(result, name, counter, parameters, arguments) \
  extern "C" result name parameters {                         \
    static auto* const real = next<result parameters>(#name); \
    count_call(counter);                                      \
    return real arguments;                                    \
  }

COUNTED(ssize_t, write, writes, (int fd, const void* data, size_t size), (fd, data, size))
COUNTED(ssize_t, writev, writes, (int fd, const iovec* parts, int count), (fd, parts, count))
COUNTED(ssize_t,
        send,
        writes,
        (int fd, const void* data, size_t size, int flags),
        (fd, data, size, flags))
COUNTED(ssize_t,
        sendto,
        writes,
        (int fd, const void* data, size_t size, int flags, const sockaddr* to, socklen_t length),
        (fd, data, size, flags, to, length))
COUNTED(ssize_t, sendmsg, writes, (int fd, const msghdr* message, int flags), (fd, message, flags))
COUNTED(ssize_t, read, reads, (int fd, void* data, size_t size), (fd, data, size))
COUNTED(ssize_t, readv, reads, (int fd, const iovec* parts, int count), (fd, parts, count))
COUNTED(ssize_t, recv, reads, (int fd, void* data, size_t size, int flags), (fd, data, size, flags))
COUNTED(ssize_t,
        recvfrom,
        reads,
        (int fd, void* data, size_t size, int flags, sockaddr* from, socklen_t* length),
        (fd, data, size, flags, from, length))
COUNTED(ssize_t, recvmsg, reads, (int fd, msghdr* message, int flags), (fd, message, flags))

extern "C" bench::SyscallCounts bench_syscall_counts() noexcept {
  return {writes.load(std::memory_order_relaxed), reads.load(std::memory_order_relaxed)};
}
