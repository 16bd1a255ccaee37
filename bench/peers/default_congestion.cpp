#include "peers/default_congestion.hpp"

#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace {

std::string& default_congestion() {
  static std::string name;
  return name;
}

}  // namespace

namespace bench {

void set_default_congestion(const std::string& name) { default_congestion() = name; }

}  // namespace bench

/// Takes the place of the C library's function, for shared libraries as well.
extern "C" int socket(int domain, int type, int protocol) noexcept {
  using Function = int (*)(int, int, int);
  static const auto original = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "socket"));
  const int descriptor = original(domain, type, protocol);
  const std::string& name = default_congestion();
  if (descriptor >= 0 && !name.empty() && (domain == AF_INET || domain == AF_INET6)) {
    // Fails on what is no TCP socket, which does not matter.
    ::setsockopt(
        descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size()));
  }
  return descriptor;
}
