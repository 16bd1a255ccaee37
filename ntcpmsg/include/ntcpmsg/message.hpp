#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/endpoint.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/session_handle.hpp"

namespace ntcpmsg {

namespace detail {
class Session;
struct Frame;
struct FrameHeader;
}  // namespace detail

/// Answers one request, later and from any thread. Movable; the request is answered exactly once.
/// A responder that is dropped unused answers with an error where the peer understands one, with
/// an empty reply otherwise.
class Responder {
 public:
  Responder() = default;
  Responder(Responder&& other) noexcept;
  Responder& operator=(Responder&& other) noexcept;
  ~Responder();

  /// Sends the answer. Fails with `Errc::unknown_peer` when the session is gone and
  /// `Errc::message_too_large`; the responder is used up unless the reply was too large. A second
  /// call fails with `Errc::invalid_argument`.
  void reply(BytesView payload);
  void reply(BytesView payload, error_code& ec);

  /// Tells the requester that its request failed; `text` reaches it where the peer understands
  /// errors, otherwise it gets an empty reply.
  void fail(std::string_view text);

  /// True while an answer is owed.
  explicit operator bool() const noexcept { return pending_; }

 private:
  friend class Message;
  Responder(std::weak_ptr<detail::Session> session,
            std::uint32_t event,
            std::uint16_t cable_id,
            std::uint32_t channel) noexcept;
  /// What identifies the request.
  detail::FrameHeader request() const noexcept;

  std::weak_ptr<detail::Session> session_;
  std::uint32_t event_ = 0;
  std::uint32_t channel_ = 0;
  std::uint16_t cable_id_ = 0;
  bool pending_ = false;
};

/// A received message. Valid, with its payload, only during the callback that gets it.
class Message {
 public:
  /// For the library.
  Message(detail::Session& session, const detail::Frame& frame) noexcept
      : session_(session), frame_(frame) {}
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  std::uint32_t event() const noexcept;
  std::uint8_t flags() const noexcept;
  /// The cable the sender says it belongs to, 0 for none.
  std::uint16_t cable_id() const noexcept;
  /// Correlation number the sender chose.
  std::uint32_t channel() const noexcept;
  /// A view into the read buffer: copy what must outlive the callback.
  BytesView payload() const noexcept;
  std::string_view text() const noexcept { return as_text(payload()); }
  /// True when the sender waits for a reply.
  bool wants_reply() const noexcept;

  const Endpoint& remote_endpoint() const noexcept;
  /// Number of the session it came over, as `SessionHandle::id`; cheaper than `session()`.
  std::uint64_t session_id() const noexcept;
  SessionHandle session() const noexcept;

  /// Answers the request. The reply leaves with the others of this turn. When a handler returns
  /// without having replied or taken the responder, an empty reply is sent; when it throws, an
  /// error. Fails with `Errc::invalid_argument` when no reply is owed, `Errc::message_too_large`.
  void reply(BytesView payload);
  void reply(BytesView payload, error_code& ec);

  /// Takes the duty to answer out of the callback. Empty when no reply is owed.
  Responder take_responder();

  /// For the library: true until the request is answered or its responder taken.
  bool reply_owed() const noexcept { return !answered_ && wants_reply(); }

 private:
  detail::Session& session_;
  const detail::Frame& frame_;
  bool answered_ = false;
};

}  // namespace ntcpmsg
