// What a client does when one of its links comes up, is lost or gets a message.

#include <utility>

#include "face/client_core.hpp"
#include "face/client_core_turn.hpp"
#include "face/message_dispatch.hpp"

namespace ntcpmsg::detail {

Hello ClientCore::link_hello(ClientLink& /*link*/) { return is_cable_ ? cable_.wish() : Hello{}; }

bool ClientCore::link_says_hello(ClientLink& /*link*/) {
  // With an original listener one connection has found out already.
  return !(is_cable_ && cable_.plain());
}

void ClientCore::on_link_state(ClientLink& link, error_code ec) {
  update_state(ec);
  using State = ReconnectMachine::State;
  const bool failed = ec && (link.state() == State::stopped || link.state() == State::waiting);
  if (!failed || distribution_.up_count() != 0 || closing_) return;
  if (is_cable_ && !options_.reconnect.enabled && link.state() == State::waiting && wanted_) {
    stop_links(ec);
  }
  if (!options_.reconnect.enabled) complete_waiters(ec);
}

void ClientCore::on_link_established(ClientLink& link, Session& session) {
  update_state({});
  if (!is_cable_) return link_ready(link, session);
  switch (cable_.on_established(link.index(), session.peer_hello())) {
    case CableMachine::Action::none: return;
    case CableMachine::Action::accept: return link_ready(link, session);
    case CableMachine::Action::request_id: return request_cable_id(link);
    case CableMachine::Action::reject: return link.restart(Errc::closed_by_user);
  }
}

void ClientCore::link_ready(ClientLink& link, Session& session) {
  const bool first = distribution_.up_count() == 0;
  cable_id_.store(is_cable_ ? cable_.id() : 0, std::memory_order_release);
  session.set_cable_id(cable_id());
  distribution_.link_up(link.index());
  if (first) remember_endpoints(&session);
  ClientLink& home = *links_.front();
  if (home.index() != link.index() && home.session() == nullptr) {
    move_frames(home.queue().take_leftover(), link);
  }
  update_state({});
  if (is_cable_) {
    for (const auto& other : links_) {
      if (other->state() == ReconnectMachine::State::stopped) other->start(shared_from_this());
    }
  }
  if (!first) return;
  complete_waiters({});
  raise(connected);
}

std::size_t ClientCore::on_link_messages(ClientLink& /*link*/,
                                         Session& session,
                                         std::span<const Frame> frames) {
  const auto report = [this](std::string text) { report_exception(std::move(text)); };
  return dispatch_messages(session, frames, [&](const Frame& frame) {
    const auto* handler = received_cache_.refresh(received);
    if (silenced_.load(std::memory_order_acquire)) handler = nullptr;
    dispatch_message(session, frame, handler, report);
  });
}

void ClientCore::on_link_writable(ClientLink& link) {
  if (closing_) return continue_close();
  complete_writable_waiters({});
  if (link.queue().take_refused()) raise(writable);
}

void ClientCore::on_link_error(ClientLink& link, error_code ec, std::string text) {
  const Endpoint remote = link.session() ? link.session()->remote_endpoint() : Endpoint();
  raise_error({ec, remote, std::move(text), 0});
}

void ClientCore::on_link_lost(ClientLink& link, Session& /*session*/, error_code reason) {
  const bool was_up = distribution_.is_up(link.index());
  distribution_.link_down(link.index());
  const auto heir = distribution_.next_for_messages(link.index());
  if (is_cable_) {
    const auto founder = cable_.on_lost(link.index());
    if (founder) request_cable_id(*links_[*founder]);
    if (!heir) cable_id_.store(0, std::memory_order_release);
  }
  settle(link.queue().take_leftover(), link, heir);
  distribution_.take_over(link.index(), heir.value_or(links_.size()));
  fail_requests(link, Errc::disconnected);
  if (was_up && !heir) {
    update_state(reason);
    remember_endpoints(nullptr);
    if (!options_.reconnect.enabled && wanted_) stop_links(reason);
    update_state({});
    complete_writable_waiters(Errc::not_connected);
    raise(disconnected, reason);
  }
  if (closing_) {
    post([](ClientCore& self) {
      self.continue_close();
      self.finish_close();
    });
  }
}

void ClientCore::settle(Leftover leftover, ClientLink& lost, std::optional<std::size_t> heir) {
  if (leftover.messages == 0) return;
  if (heir) return move_frames(std::move(leftover), *links_[*heir]);
  const bool comes_back = wanted_ && !closing_ && options_.reconnect.enabled;
  if (comes_back && options_.offline == OfflinePolicy::queue) {
    return keep_for_later(std::move(leftover), lost);
  }
  report_unsent(leftover);
}

void ClientCore::move_requests(const Leftover& leftover, RequestTable::Link link) {
  for_each_frame(leftover.frames.view(), [&](const FrameHeader& header, BytesView) {
    if ((header.flags & flag::sync) != 0) requests_->move_to(header.channel, link);
  });
}

void ClientCore::move_frames(Leftover leftover, ClientLink& to) {
  move_requests(leftover, to.tag());
  if (leftover.messages != 0) to.queue().append_frames(leftover.frames.view());
}

void ClientCore::keep_for_later(Leftover leftover, ClientLink& lost) {
  ClientLink& home = *links_.front();
  if (&home != &lost) return move_frames(std::move(leftover), home);
  // Requests that never left stay in flight; `fail_requests` must not see them.
  move_requests(leftover, kept_requests);
  fail_requests(lost, Errc::disconnected);
  move_requests(leftover, home.tag());
  home.queue().put_back(std::move(leftover));
}

void ClientCore::report_unsent(const Leftover& leftover) {
  std::size_t count = 0;
  // Who made a request is told by its outcome.
  for_each_frame(leftover.frames.view(), [&](const FrameHeader& header, BytesView) {
    if ((header.flags & flag::sync) == 0) ++count;
  });
  if (count == 0) return;
  links_.front()->queue().count_unsent(count);
  unsent_at_close_ += count;
  raise_error({Errc::messages_unsent, remote_endpoint(), {}, count});
}

void ClientCore::fail_requests(ClientLink& link, error_code reason) {
  for (auto& completion : requests_->take_all(link.tag())) completion(reason, {});
}

}  // namespace ntcpmsg::detail
