#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "wire/hello.hpp"

namespace ntcpmsg::detail {

/// How several connections become one cable: who founds it, who joins, and what to do when its
/// founder goes. Decides only.
///
/// With a listener of ours the first connection asks for a new cable in its hello and gets an id
/// and a token; the others join by the token. With an original listener one connection asks for an
/// id by the inner event 1, and the others merely write that id into their frames.
class CableMachine {
 public:
  enum class Action {
    none,
    /// The connection is part of the cable.
    accept,
    /// Ask over this connection for a cable id, then call `on_id`.
    request_id,
    /// The connection belongs to another cable than the rest: close it and try again.
    reject,
  };

  /// What the hello of the next connection says.
  Hello wish() const;

  /// A connection is up; `peer` is unset when it speaks the plain protocol only.
  Action on_established(std::size_t link, const std::optional<Hello>& peer);
  /// The answer of an original listener; 0 when it has no id left.
  Action on_id(std::size_t link, std::uint16_t id);
  /// Returns the connection that must ask for a new id, since the one that had asked is gone.
  std::optional<std::size_t> on_lost(std::size_t link);

  /// 0 while there is none.
  std::uint16_t id() const noexcept { return id_; }
  /// The listener is known to speak the plain protocol only.
  bool plain() const noexcept { return id_ != 0 && !token_; }

 private:
  std::uint16_t id_ = 0;
  std::optional<CableToken> token_;
  /// Plain protocol: the connection that asked for the id.
  std::optional<std::size_t> founder_;
  std::set<std::size_t> members_;
};

}  // namespace ntcpmsg::detail
