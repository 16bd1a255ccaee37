#pragma once

#include <cstdint>
#include <memory>

#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/endpoint.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/options.hpp"

namespace ntcpmsg {

namespace detail {
class Session;
}

/// Refers to one connection without keeping it alive. Copyable; every member is thread-safe.
/// Operations on a session that is gone fail with `Errc::unknown_peer`.
class SessionHandle {
 public:
  SessionHandle() = default;
  /// For the library.
  explicit SessionHandle(std::weak_ptr<detail::Session> session, std::uint64_t id) noexcept;

  /// Number of the session, unique within its listener or client; 0 for an empty handle.
  std::uint64_t id() const noexcept { return id_; }
  bool connected() const noexcept;
  /// Default-constructed when the session is gone.
  Endpoint remote_endpoint() const;
  Endpoint local_endpoint() const;
  /// The cable this session is bound to, 0 for none.
  std::uint16_t cable_id() const;
  /// True when the peer answered the hello, i.e. speaks the extensions.
  bool peer_speaks_extensions() const noexcept;

  /// Sends a message to the peer. Waits for room when the queue is full, as the options say.
  void push(std::uint32_t event, BytesView payload) const;
  void push(std::uint32_t event, BytesView payload, error_code& ec) const;

  /// Sends a request to the peer and waits for the reply. Fails with `Errc::not_supported` when the
  /// peer is an original client, `Errc::timed_out`, `Errc::disconnected`, `Errc::would_deadlock`
  /// (called on the session's own thread), `Errc::remote_error`.
  Bytes sync_push(std::uint32_t event,
                  BytesView payload,
                  Milliseconds timeout = std::chrono::seconds(30)) const;
  Bytes sync_push(std::uint32_t event,
                  BytesView payload,
                  Milliseconds timeout,
                  error_code& ec) const;

  /// Closes the session after what is queued was written, or after `timeout`. Returns at once.
  void close(Milliseconds timeout = std::chrono::seconds(2)) const;

  friend bool operator==(const SessionHandle& a, const SessionHandle& b) noexcept {
    return a.id_ == b.id_ && !a.session_.owner_before(b.session_) &&
           !b.session_.owner_before(a.session_);
  }

 private:
  std::weak_ptr<detail::Session> session_;
  std::uint64_t id_ = 0;
};

}  // namespace ntcpmsg
