#pragma once

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace bench {

/// Waits for input on many descriptors.
class EpollSet {
 public:
  EpollSet() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll");
  }
  ~EpollSet() { ::close(epoll_); }
  EpollSet(const EpollSet&) = delete;
  EpollSet& operator=(const EpollSet&) = delete;

  void add(int descriptor, std::size_t index) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = index;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &wanted) < 0) {
      throw std::system_error(errno, std::generic_category(), "epoll");
    }
  }

  /// Calls `visit(index)` for each descriptor with input, once there is one.
  template <typename Visitor>
  void wait(Visitor&& visit) {
    std::array<epoll_event, 256> ready;
    const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), -1);
    for (int i = 0; i < count; ++i) {
      visit(static_cast<std::size_t>(ready[static_cast<std::size_t>(i)].data.u64));
    }
  }

 private:
  int epoll_;
};

}  // namespace bench
