#pragma once

#include <string>

#include "link/one_way.hpp"

namespace bench {

/// Two interfaces in two network namespaces and both directions between them.
class Relay {
 public:
  Relay(const std::string& namespace_a,
        const std::string& namespace_b,
        const std::string& interface,
        const LinkOptions& options);

  /// Relays until `end_signal`, a descriptor, can be read.
  void run(int end_signal);

  const OneWayCounters& a_to_b() const { return a_to_b_.counters(); }
  const OneWayCounters& b_to_a() const { return b_to_a_.counters(); }

 private:
  std::optional<LinkTime> next_due() const;

  TunDevice a_;
  TunDevice b_;
  OneWay a_to_b_;
  OneWay b_to_a_;
};

}  // namespace bench
