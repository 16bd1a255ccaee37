#pragma once

#include <cstdint>
#include <vector>

#include "base/biased_lock.hpp"
#include "base/deadline.hpp"
#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/plain_reply.hpp"

namespace ntcpmsg::detail {

/// Requests in flight. A request's channel number holds its slot and the slot's generation, so a
/// late reply to a slot in use again finds nobody. Thread-safe. A completion taken out by any
/// function here belongs to the caller, who must call it; it is in nobody else's hands then.
class RequestTable {
 public:
  /// Which connection a request travels on.
  using Link = std::uint64_t;

  /// `max_requests` at most 65,534; channels are or-ed with `channel_base`.
  RequestTable(std::size_t max_requests, std::uint32_t channel_base);

  /// Takes a channel, which is never 0; 0, and the completion left alone, when the table is full.
  /// `deadline` of `TimePoint::max()`: the caller watches the time itself.
  std::uint32_t add(ReplyCompletion&& completion, Link link, TimePoint deadline);

  /// Takes a request out; empty when it was answered, has failed or timed out already.
  ReplyCompletion take(std::uint32_t channel) noexcept;
  /// The same for a reply that came over `link`: a request of another connection is not touched.
  ReplyCompletion take(std::uint32_t channel, Link link) noexcept;

  /// The request will leave over another connection than thought.
  void move_to(std::uint32_t channel, Link link) noexcept;

  std::vector<ReplyCompletion> take_all(Link link);

  struct Expired {
    std::vector<ReplyCompletion> completions;
    /// Earliest deadline of the requests that stay.
    TimePoint next = TimePoint::max();
  };
  /// Looks at every slot. Requests end long before their deadlines as a rule, so keeping these in
  /// order would cost each request more than a look at all of them now and then.
  Expired take_expired(TimePoint now);
  std::size_t in_flight() const noexcept;

 private:
  static constexpr std::uint32_t no_slot = UINT32_MAX;

  struct Slot {
    ReplyCompletion completion;
    Link link = 0;
    TimePoint deadline;
    std::uint32_t next_free = no_slot;
    std::uint16_t generation = 0;
  };

  std::uint32_t channel_of(std::uint32_t index) const noexcept;
  Slot* find(std::uint32_t channel) noexcept;
  ReplyCompletion release(Slot& slot) noexcept;

  std::size_t max_requests_;
  std::uint32_t channel_base_;
  mutable BiasedLock lock_;
  std::vector<Slot> slots_;
  std::uint32_t first_free_ = no_slot;
  std::size_t in_flight_ = 0;
};

}  // namespace ntcpmsg::detail
