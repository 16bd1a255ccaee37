#include "link/tun_device.hpp"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace bench {
namespace {

// Packets that wait in the kernel for us to read them. The usual 500 are less than one window of a
// fast connection, and what is lost here would be lost behind the back of the loss model.
constexpr int kernel_queue_packets = 20'000;

void check(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::system_category(), what);
}

Descriptor open_file(const std::string& path, int flags) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  check(file.get(), path);
  return file;
}

/// Puts the calling thread into another network namespace while it lives.
class InsideNamespace {
 public:
  explicit InsideNamespace(const std::string& name)
      : before_(open_file("/proc/thread-self/ns/net", O_RDONLY)) {
    const Descriptor inside = open_file("/run/netns/" + name, O_RDONLY);
    check(::setns(inside.get(), CLONE_NEWNET), "entering network namespace " + name);
  }
  ~InsideNamespace() { ::setns(before_.get(), CLONE_NEWNET); }
  InsideNamespace(const InsideNamespace&) = delete;
  InsideNamespace& operator=(const InsideNamespace&) = delete;

 private:
  Descriptor before_;
};

ifreq request_for(const std::string& interface) {
  ifreq request{};
  if (interface.empty() || interface.size() >= sizeof request.ifr_name) {
    throw std::invalid_argument("bad interface name '" + interface + "'");
  }
  interface.copy(request.ifr_name, interface.size());
  return request;
}

void set_sizes(const std::string& interface, std::size_t mtu) {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  check(socket.get(), "socket");
  ifreq request = request_for(interface);
  request.ifr_mtu = static_cast<int>(mtu);
  check(::ioctl(socket.get(), SIOCSIFMTU, &request), "setting the MTU");
  request = request_for(interface);
  request.ifr_qlen = kernel_queue_packets;
  check(::ioctl(socket.get(), SIOCSIFTXQLEN, &request), "setting the queue length");
}

}  // namespace

TunDevice::TunDevice(const std::string& network_namespace,
                     const std::string& interface,
                     std::size_t mtu) {
  const InsideNamespace inside(network_namespace);
  tun_ = open_file("/dev/net/tun", O_RDWR | O_NONBLOCK);
  ifreq request = request_for(interface);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  check(::ioctl(tun_.get(), TUNSETIFF, &request), "creating interface " + interface);
  set_sizes(interface, mtu);
}

std::size_t TunDevice::read(std::span<std::byte> to) const {
  const ssize_t size = ::read(tun_.get(), to.data(), to.size());
  if (size < 0 && errno != EAGAIN && errno != EINTR) check(-1, "reading a packet");
  return size < 0 ? 0 : static_cast<std::size_t>(size);
}

bool TunDevice::write(std::span<const std::byte> packet) const {
  return ::write(tun_.get(), packet.data(), packet.size()) >= 0;
}

}  // namespace bench
