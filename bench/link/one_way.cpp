#include "link/one_way.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

// Small enough that what is due meanwhile is hardly late.
constexpr int packets_per_batch = 32;

// Packets due within this time leave together with the first one, or the relay would wake up for
// each of them.
constexpr std::chrono::microseconds coalescing{50};

// More than the relay can handle, whatever their size.
constexpr std::size_t most_packets_per_second = 500'000;

/// Packets on the slow line and in the queue before it.
std::size_t capacity_for(const LinkOptions& options) {
  const double seconds = std::chrono::duration<double>(options.delay).count();
  constexpr std::size_t some_more = 1000;
  return static_cast<std::size_t>(seconds * most_packets_per_second) + options.queue_packets +
         some_more;
}

double to_microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

void to_json(nlohmann::ordered_json& json, const OneWayCounters& counters) {
  const auto packets = static_cast<double>(std::max<std::uint64_t>(counters.packets, 1));
  json = {{"packets", counters.packets},
          {"bytes", counters.bytes},
          {"lost", counters.lost},
          {"tail_dropped", counters.tail_dropped},
          {"overrun", counters.overrun},
          {"refused", counters.refused},
          {"mean_lateness_us", to_microseconds(counters.total_lateness) / packets},
          {"most_lateness_us", to_microseconds(counters.most_lateness)}};
}

OneWay::OneWay(const TunDevice& from,
               const TunDevice& to,
               const LinkOptions& options,
               std::uint64_t seed)
    : from_(from),
      to_(to),
      delay_(options.delay),
      loss_(options.loss, seed),
      rate_(options.bits_per_second, options.queue_bytes()),
      queue_(capacity_for(options), options.mtu) {}

void OneWay::take_in(LinkTime now) {
  for (int i = 0; i < packets_per_batch; ++i) {
    const std::size_t size = from_.read(queue_.room());
    if (size == 0) return;
    take_in_packet(size, now);
  }
}

void OneWay::take_in_packet(std::size_t size, LinkTime now) {
  if (queue_.full()) {
    ++counters_.overrun;
    return;
  }
  const auto departure = rate_.departure(now, size);
  if (!departure) {
    ++counters_.tail_dropped;
    return;
  }
  // Lost on the line, after it took its time there.
  if (loss_.loses_next()) {
    ++counters_.lost;
    return;
  }
  queue_.push(size, *departure + delay_);
}

void OneWay::hand_over(LinkTime now) {
  while (!queue_.empty() && queue_.first_release() <= now + coalescing) {
    const auto lateness = std::max(now - queue_.first_release(), std::chrono::nanoseconds{});
    const auto packet = queue_.first();
    if (to_.write(packet)) {
      ++counters_.packets;
      counters_.bytes += packet.size();
      counters_.total_lateness += lateness;
      counters_.most_lateness = std::max(counters_.most_lateness, lateness);
    } else {
      ++counters_.refused;
    }
    queue_.pop();
  }
}

std::optional<LinkTime> OneWay::next_due() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.first_release();
}

}  // namespace bench
