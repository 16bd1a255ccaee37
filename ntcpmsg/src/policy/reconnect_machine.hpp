#pragma once

#include <cstddef>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/policies.hpp"

namespace ntcpmsg::detail {

/// The life of one connection that is made, lost and made again. Decides only; every event is
/// answered with what to do next.
///
///     stopped -> resolving -> connecting (each address) -> negotiating -> up
///        ^___________________________|__________________________|_________|
///                                    v          (loss or failure)
///                                 waiting -> resolving
class ReconnectMachine {
 public:
  enum class State { stopped, resolving, connecting, negotiating, up, waiting };

  struct Action {
    enum class Kind {
      none,
      resolve,
      /// Try address number `address`.
      connect,
      /// Begin a session on the connected transport.
      negotiate,
      /// Call `on_time` after `wait`.
      wait,
      /// The attempt has failed and is not repeated.
      give_up,
    };
    Kind kind = Kind::none;
    std::size_t address = 0;
    Milliseconds wait{0};

    friend bool operator==(const Action&, const Action&) = default;
  };

  ReconnectMachine(const ReconnectOptions& options, std::uint64_t seed) noexcept
      : options_(options), backoff_(options.base, options.cap, seed) {}

  State state() const noexcept { return state_; }

  Action start() noexcept;
  /// Back to `stopped`, from anywhere; nothing is repeated after that.
  void stop() noexcept;
  Action on_resolved(std::size_t addresses) noexcept;
  Action on_resolve_failed() noexcept { return fail_attempt(State::resolving); }
  Action on_connected() noexcept;
  Action on_connect_failed() noexcept;
  void on_established(TimePoint now) noexcept;
  /// The session ended, during negotiation or later.
  Action on_lost(TimePoint now) noexcept;
  Action on_time() noexcept;

 private:
  Action fail_attempt(State expected) noexcept;
  Action retry_or_give_up() noexcept;

  ReconnectOptions options_;
  Backoff backoff_;
  State state_ = State::stopped;
  std::size_t addresses_ = 0;
  std::size_t address_ = 0;
  TimePoint up_since_{};
};

}  // namespace ntcpmsg::detail
