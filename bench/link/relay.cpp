#include "link/relay.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace bench {
namespace {

/// Waits until a descriptor can be read or the time has come.
void wait_for(std::span<pollfd> descriptors, std::optional<LinkTime> due) {
  timespec timeout{};
  if (due) {
    const auto wait = std::max(*due - LinkClock::now(), LinkClock::duration{});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
    timeout.tv_sec = seconds.count();
    timeout.tv_nsec = (wait - seconds).count();
  }
  const int result =
      ::ppoll(descriptors.data(), descriptors.size(), due ? &timeout : nullptr, nullptr);
  if (result < 0 && errno != EINTR) throw std::system_error(errno, std::system_category(), "ppoll");
}

}  // namespace

Relay::Relay(const std::string& namespace_a,
             const std::string& namespace_b,
             const std::string& interface,
             const LinkOptions& options)
    : a_(namespace_a, interface, options.mtu),
      b_(namespace_b, interface, options.mtu),
      a_to_b_(a_, b_, options, options.seed * 2),
      b_to_a_(b_, a_, options, options.seed * 2 + 1) {}

void Relay::run(int end_signal) {
  std::array<pollfd, 3> descriptors{{{.fd = a_.descriptor(), .events = POLLIN, .revents = 0},
                                     {.fd = b_.descriptor(), .events = POLLIN, .revents = 0},
                                     {.fd = end_signal, .events = POLLIN, .revents = 0}}};
  const auto& [a, b, end] = descriptors;
  while (end.revents == 0) {
    wait_for(descriptors, next_due());
    const LinkTime now = LinkClock::now();
    a_to_b_.hand_over(now);
    b_to_a_.hand_over(now);
    if (a.revents != 0) a_to_b_.take_in(now);
    if (b.revents != 0) b_to_a_.take_in(now);
  }
}

std::optional<LinkTime> Relay::next_due() const {
  const auto there = a_to_b_.next_due();
  const auto back = b_to_a_.next_due();
  if (there && back) return std::min(*there, *back);
  return there ? there : back;
}

}  // namespace bench
