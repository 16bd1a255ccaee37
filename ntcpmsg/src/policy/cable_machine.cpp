#include "policy/cable_machine.hpp"

namespace ntcpmsg::detail {

Hello CableMachine::wish() const {
  Hello hello;
  hello.cable_wish = token_ ? CableWish::join : CableWish::create;
  hello.cable_token = token_;
  return hello;
}

CableMachine::Action CableMachine::on_established(std::size_t link,
                                                  const std::optional<Hello>& peer) {
  if (peer && peer->cable_token) {
    if (!members_.empty() && peer->cable_token != token_) return Action::reject;
    token_ = peer->cable_token;
    id_ = peer->cable_id;
    members_.insert(link);
    return Action::accept;
  }
  if (id_ != 0 && !token_) {
    members_.insert(link);
    return Action::accept;
  }
  if (token_ && !members_.empty()) return Action::reject;
  token_.reset();
  if (founder_) return Action::reject;
  founder_ = link;
  return Action::request_id;
}

CableMachine::Action CableMachine::on_id(std::size_t link, std::uint16_t id) {
  if (founder_ != link) return Action::none;
  // It stays the founder until it is gone, so that then another one asks.
  if (id == 0 || token_) return Action::reject;
  id_ = id;
  members_.insert(link);
  return Action::accept;
}

std::optional<std::size_t> CableMachine::on_lost(std::size_t link) {
  members_.erase(link);
  const bool founder_lost = founder_ == link;
  if (founder_lost) founder_.reset();
  if (members_.empty()) {
    id_ = 0;
    token_.reset();
    return std::nullopt;
  }
  if (!founder_lost || token_) return std::nullopt;
  founder_ = *members_.begin();
  return founder_;
}

}  // namespace ntcpmsg::detail
