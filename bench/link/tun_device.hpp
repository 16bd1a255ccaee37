#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "link/descriptor.hpp"

namespace bench {

/// A network interface whose packets are read and written here instead of by hardware. It goes away
/// with this object.
class TunDevice {
 public:
  /// Creates it in a namespace of `ip netns`.
  TunDevice(const std::string& network_namespace, const std::string& interface, std::size_t mtu);

  int descriptor() const { return tun_.get(); }
  /// The size of the next packet; 0 when there is none.
  std::size_t read(std::span<std::byte> to) const;
  /// False when the interface does not take it (it is not up).
  bool write(std::span<const std::byte> packet) const;

 private:
  Descriptor tun_;
};

}  // namespace bench
