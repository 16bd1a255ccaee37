#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace bench {

/// The program `nats-server` as a child process, which ends with this one.
class NatsBroker {
 public:
  /// Returns when it accepts clients. To be called by a thread that lives as long as the process.
  explicit NatsBroker(const std::string& host);
  NatsBroker(const NatsBroker&) = delete;
  NatsBroker& operator=(const NatsBroker&) = delete;
  ~NatsBroker();

  std::uint16_t port() const noexcept { return port_; }
  /// User and system time of all its threads so far.
  double cpu_seconds() const;

 private:
  void start() const;
  void await_ready() const;

  std::string host_;
  std::uint16_t port_;
  pid_t child_ = -1;
};

}  // namespace bench
