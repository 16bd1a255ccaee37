#pragma once

#include <optional>

#include "base/deadline.hpp"
#include "ntcpmsg/bytes.hpp"
#include "wire/hello.hpp"

namespace ntcpmsg::detail {

/// The asking side of the hello: sends it, repeats it once (an original listener may lose the very
/// first frames of a connection), and settles for the plain protocol when no answer comes.
class HelloMachine {
 public:
  enum class Action {
    none,
    /// Send the hello (again) and call `on_time` at `deadline()`.
    send,
    /// The peer speaks the extensions of `peer()`.
    agreed,
    /// The peer is an original one, or silent: plain protocol.
    plain,
  };

  explicit HelloMachine(Milliseconds timeout) noexcept : timeout_(timeout) {}

  Action start(TimePoint now) noexcept;
  Action on_reply(BytesView payload) noexcept;
  Action on_time(TimePoint now) noexcept;

  bool done() const noexcept { return done_; }
  TimePoint deadline() const noexcept { return deadline_; }
  const std::optional<Hello>& peer() const noexcept { return peer_; }

 private:
  static constexpr int most_tries = 2;

  Milliseconds timeout_;
  TimePoint deadline_ = TimePoint::max();
  int tries_ = 0;
  bool done_ = false;
  std::optional<Hello> peer_;
};

}  // namespace ntcpmsg::detail
