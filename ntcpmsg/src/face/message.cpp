#include "ntcpmsg/message.hpp"

#include <utility>

#include "base/checks.hpp"
#include "session/session.hpp"

namespace ntcpmsg {

Responder::Responder(std::weak_ptr<detail::Session> session,
                     std::uint32_t event,
                     std::uint16_t cable_id,
                     std::uint32_t channel) noexcept
    : session_(std::move(session)),
      event_(event),
      channel_(channel),
      cable_id_(cable_id),
      pending_(true) {}

Responder::Responder(Responder&& other) noexcept
    : session_(std::move(other.session_)),
      event_(other.event_),
      channel_(other.channel_),
      cable_id_(other.cable_id_),
      pending_(std::exchange(other.pending_, false)) {}

Responder& Responder::operator=(Responder&& other) noexcept {
  Responder taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(event_, taken.event_);
  std::swap(channel_, taken.channel_);
  std::swap(cable_id_, taken.cable_id_);
  std::swap(pending_, taken.pending_);
  return *this;
}

Responder::~Responder() {
  if (!pending_) return;
  try {
    fail("the request was dropped without an answer");
  } catch (...) {
    // Out of memory; the requester gets its timeout.
  }
}

void Responder::reply(BytesView payload) {
  error_code ec;
  reply(payload, ec);
  detail::throw_on_error(ec);
}

void Responder::reply(BytesView payload, error_code& ec) {
  if (!pending_) {
    ec = Errc::invalid_argument;
    return;
  }
  const auto session = session_.lock();
  if (!session) {
    pending_ = false;
    ec = Errc::unknown_peer;
    return;
  }
  ec = session->reply(request(), payload);
  if (ec == Errc::message_too_large) return;
  pending_ = false;
  session->reply_settled();
}

void Responder::fail(std::string_view text) {
  if (!std::exchange(pending_, false)) return;
  const auto session = session_.lock();
  if (!session) return;
  session->reply_error(request(), text);
  session->reply_settled();
}

detail::FrameHeader Responder::request() const noexcept {
  return {.event = event_, .cable_id = cable_id_, .channel = channel_};
}

std::uint32_t Message::event() const noexcept { return frame_.header.event; }

std::uint8_t Message::flags() const noexcept { return frame_.header.flags; }

std::uint16_t Message::cable_id() const noexcept { return frame_.header.cable_id; }

std::uint32_t Message::channel() const noexcept { return frame_.header.channel; }

BytesView Message::payload() const noexcept { return frame_.payload; }

bool Message::wants_reply() const noexcept {
  return (frame_.header.flags & detail::flag::sync) != 0;
}

const Endpoint& Message::remote_endpoint() const noexcept { return session_.remote_endpoint(); }

std::uint64_t Message::session_id() const noexcept { return session_.id(); }

SessionHandle Message::session() const noexcept {
  return SessionHandle(session_.weak_from_this(), session_.id());
}

void Message::reply(BytesView payload) {
  error_code ec;
  reply(payload, ec);
  detail::throw_on_error(ec);
}

void Message::reply(BytesView payload, error_code& ec) {
  if (!reply_owed()) {
    ec = Errc::invalid_argument;
    return;
  }
  if (session_.reply_in_burst(frame_.header, payload)) {
    ec.clear();
    answered_ = true;
    return;
  }
  ec = session_.reply(frame_.header, payload);
  answered_ = ec != Errc::message_too_large;
}

Responder Message::take_responder() {
  if (!reply_owed()) return {};
  answered_ = true;
  session_.reply_deferred();
  const auto& header = frame_.header;
  return {session_.weak_from_this(), header.event, header.cable_id, header.channel};
}

}  // namespace ntcpmsg
