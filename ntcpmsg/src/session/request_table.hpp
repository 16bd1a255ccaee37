#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/brief_lock.hpp"
#include "base/deadline.hpp"
#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/error.hpp"
#include "session/deadline_queue.hpp"

namespace ntcpmsg::detail {

/// Where the outcome of a request goes. Called once, never under a lock.
class ReplySink {
 public:
  /// `reply` is valid during the call. On `Errc::remote_error` it holds the peer's text.
  virtual void complete(error_code ec, BytesView reply) noexcept = 0;

 protected:
  ~ReplySink() = default;
};

/// Requests in flight. A request's channel number holds its slot and the slot's generation, so a
/// late reply to a slot in use again finds nobody. Thread-safe. A sink taken out by any function
/// here belongs to the caller, who must complete it; it is in nobody else's hands then.
class RequestTable {
 public:
  /// Which connection a request travels on.
  using Link = std::uint64_t;

  /// `max_requests` at most 65,534; channels are or-ed with `channel_base`.
  RequestTable(std::size_t max_requests, std::uint32_t channel_base);

  /// Takes a channel; empty when the table is full. `deadline` of `TimePoint::max()`: the caller
  /// watches the time itself.
  std::optional<std::uint32_t> add(ReplySink& sink, Link link, TimePoint deadline);

  /// Takes a request out; null when it was answered, has failed or timed out already.
  ReplySink* take(std::uint32_t channel) noexcept;
  /// The same for a reply that came over `link`: a request of another connection is not touched.
  ReplySink* take(std::uint32_t channel, Link link) noexcept;

  /// The request will leave over another connection than thought.
  void move_to(std::uint32_t channel, Link link) noexcept;

  std::vector<ReplySink*> take_all(Link link);
  std::vector<ReplySink*> take_expired(TimePoint now);
  TimePoint earliest_deadline() const noexcept;
  std::size_t in_flight() const noexcept;

 private:
  struct Slot {
    ReplySink* sink = nullptr;
    Link link = 0;
    std::uint16_t generation = 0;
  };

  std::uint32_t channel_of(std::uint32_t index) const noexcept;
  Slot* find(std::uint32_t channel) noexcept;
  ReplySink* release(Slot& slot) noexcept;

  std::size_t max_requests_;
  std::uint32_t channel_base_;
  mutable BriefLock lock_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  DeadlineQueue deadlines_;
  std::size_t in_flight_ = 0;
};

}  // namespace ntcpmsg::detail
