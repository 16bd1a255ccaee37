#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "link/link_options.hpp"
#include "link/loss_model.hpp"
#include "link/packet_queue.hpp"
#include "link/rate_limit.hpp"
#include "link/tun_device.hpp"

namespace bench {

/// What became of the packets of one direction.
struct OneWayCounters {
  /// Handed over to the other side.
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;
  /// Found the queue full.
  std::uint64_t tail_dropped = 0;
  /// Dropped because the relay is too slow: there should be none.
  std::uint64_t overrun = 0;
  /// The other side's interface was not up.
  std::uint64_t refused = 0;
  /// How much later than they should packets were handed over: the relay had no processor.
  std::chrono::nanoseconds total_lateness{};
  std::chrono::nanoseconds most_lateness{};
};

void to_json(nlohmann::ordered_json& json, const OneWayCounters& counters);

/// One direction of the link.
class OneWay {
 public:
  OneWay(const TunDevice& from,
         const TunDevice& to,
         const LinkOptions& options,
         std::uint64_t seed);

  /// Reads what has arrived, at most one batch.
  void take_in(LinkTime now);
  /// Hands over what is due.
  void hand_over(LinkTime now);
  /// When `hand_over` has something to do; empty while nothing is on its way.
  std::optional<LinkTime> next_due() const;

  const OneWayCounters& counters() const { return counters_; }

 private:
  void take_in_packet(std::size_t size, LinkTime now);

  const TunDevice& from_;
  const TunDevice& to_;
  std::chrono::nanoseconds delay_;
  LossModel loss_;
  RateLimit rate_;
  PacketQueue queue_;
  OneWayCounters counters_;
};

}  // namespace bench
