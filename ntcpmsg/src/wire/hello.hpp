#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ntcpmsg/bytes.hpp"

namespace ntcpmsg::detail {

/// Extensions a peer speaks, as bits of the hello's feature entry.
namespace feature {
inline constexpr std::uint32_t error_replies = 1U << 0;
inline constexpr std::uint32_t sync_push = 1U << 1;
inline constexpr std::uint32_t cable_tokens = 1U << 2;
inline constexpr std::uint32_t all = error_replies | sync_push | cable_tokens;
}  // namespace feature

/// Knowing it allows a connection to join a cable; 16 random bytes.
using CableToken = std::array<std::byte, 16>;

/// What a client wants of a cable.
enum class CableWish : std::uint8_t {
  none = 0,
  /// Make a new cable with this connection as its first.
  create = 1,
  /// Bind this connection to the cable of the token.
  join = 2,
};

/// The inner message by which our peers agree on extensions; the same form serves as request and
/// reply. Layout: docs/protocol.md, "Hello".
struct Hello {
  std::uint8_t version = 1;
  std::uint32_t features = 0;
  /// Longest payload the sender of this hello accepts; 0: not stated.
  std::uint32_t max_message_size = 0;
  CableWish cable_wish = CableWish::none;
  /// Reply: the cable this connection now belongs to.
  std::uint16_t cable_id = 0;
  std::optional<CableToken> cable_token = std::nullopt;

  friend bool operator==(const Hello&, const Hello&) = default;
};

Bytes encode(const Hello& hello);

/// Unknown entries are skipped and entries of a known type with another length too, so that later
/// versions can add to them. Empty when the payload is empty (an original peer) or cut short.
std::optional<Hello> decode_hello(BytesView payload) noexcept;

}  // namespace ntcpmsg::detail
