#include "ntcpmsg/session_handle.hpp"

#include <utility>

#include "base/checks.hpp"
#include "face/blocking_reply.hpp"
#include "session/session.hpp"

namespace ntcpmsg {

SessionHandle::SessionHandle(std::weak_ptr<detail::Session> session, std::uint64_t id) noexcept
    : session_(std::move(session)), id_(id) {}

bool SessionHandle::connected() const noexcept {
  const auto session = session_.lock();
  return session && session->open();
}

Endpoint SessionHandle::remote_endpoint() const {
  const auto session = session_.lock();
  return session && session->open() ? session->remote_endpoint() : Endpoint();
}

Endpoint SessionHandle::local_endpoint() const {
  const auto session = session_.lock();
  return session && session->open() ? session->local_endpoint() : Endpoint();
}

std::uint16_t SessionHandle::cable_id() const {
  const auto session = session_.lock();
  return session && session->open() ? session->cable_id() : std::uint16_t{0};
}

bool SessionHandle::peer_speaks_extensions() const noexcept {
  const auto session = session_.lock();
  return session && session->open() && session->features() != 0;
}

void SessionHandle::push(std::uint32_t event, BytesView payload) const {
  error_code ec;
  push(event, payload, ec);
  detail::throw_on_error(ec);
}

void SessionHandle::push(std::uint32_t event, BytesView payload, error_code& ec) const {
  const auto session = session_.lock();
  ec = session ? session->push(event, payload, {}) : error_code(Errc::unknown_peer);
}

Bytes SessionHandle::sync_push(std::uint32_t event, BytesView payload, Milliseconds timeout) const {
  error_code ec;
  Bytes reply = sync_push(event, payload, timeout, ec);
  if (ec) detail::throw_request_error(ec, reply);
  return reply;
}

Bytes SessionHandle::sync_push(std::uint32_t event,
                               BytesView payload,
                               Milliseconds timeout,
                               error_code& ec) const {
  const auto session = session_.lock();
  if (!session || !session->open()) {
    ec = Errc::unknown_peer;
    return {};
  }
  if (session->io_thread().running_in_this_thread()) {
    ec = Errc::would_deadlock;
    return {};
  }
  if ((session->features() & detail::feature::sync_push) == 0) {
    ec = Errc::not_supported;
    return {};
  }
  const auto deadline = detail::deadline_after(detail::Clock::now(), timeout);
  Bytes reply;
  detail::BlockingReply outcome(reply);
  detail::RequestTable& requests = session->requests();
  const auto channel = requests.add(outcome.completion(), session->id(), detail::TimePoint::max());
  if (channel == 0) {
    ec = Errc::too_many_requests;
    return {};
  }
  const detail::FrameHeader header{.flags = detail::flag::sync,
                                   .event = event,
                                   .cable_id = session->cable_id(),
                                   .channel = channel};
  ec = session->queue().append(header, payload, {.urgent = true, .wait_deadline = deadline});
  if (ec) {
    outcome.withdraw(requests, channel);
    if (ec == Errc::not_connected || ec == Errc::closed) ec = Errc::unknown_peer;
    return {};
  }
  ec = outcome.wait(requests, channel, deadline);
  return reply;
}

void SessionHandle::close(Milliseconds timeout) const {
  const auto session = session_.lock();
  if (!session) return;
  session->close({.deadline = detail::deadline_after(detail::Clock::now(), timeout)});
}

}  // namespace ntcpmsg
