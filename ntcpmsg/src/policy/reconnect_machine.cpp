#include "policy/reconnect_machine.hpp"

namespace ntcpmsg::detail {

using Action = ReconnectMachine::Action;

Action ReconnectMachine::start() noexcept {
  if (state_ != State::stopped && state_ != State::waiting) return {};
  state_ = State::resolving;
  return {Action::Kind::resolve};
}

void ReconnectMachine::stop() noexcept {
  state_ = State::stopped;
  backoff_.reset();
}

Action ReconnectMachine::on_resolved(std::size_t addresses) noexcept {
  if (state_ != State::resolving) return {};
  if (addresses == 0) return retry_or_give_up();
  addresses_ = addresses;
  address_ = 0;
  state_ = State::connecting;
  return {Action::Kind::connect, address_};
}

Action ReconnectMachine::on_connected() noexcept {
  if (state_ != State::connecting) return {};
  state_ = State::negotiating;
  return {Action::Kind::negotiate};
}

Action ReconnectMachine::on_connect_failed() noexcept {
  if (state_ != State::connecting) return {};
  if (++address_ < addresses_) return {Action::Kind::connect, address_};
  return retry_or_give_up();
}

void ReconnectMachine::on_established(TimePoint now) noexcept {
  if (state_ != State::negotiating) return;
  state_ = State::up;
  up_since_ = now;
}

Action ReconnectMachine::on_lost(TimePoint now) noexcept {
  if (state_ != State::negotiating && state_ != State::up) return {};
  if (state_ == State::up && now - up_since_ >= options_.stable_after) backoff_.reset();
  return retry_or_give_up();
}

Action ReconnectMachine::on_time() noexcept {
  if (state_ != State::waiting) return {};
  state_ = State::resolving;
  return {Action::Kind::resolve};
}

Action ReconnectMachine::fail_attempt(State expected) noexcept {
  return state_ == expected ? retry_or_give_up() : Action{};
}

Action ReconnectMachine::retry_or_give_up() noexcept {
  if (!options_.enabled) {
    state_ = State::stopped;
    return {Action::Kind::give_up};
  }
  state_ = State::waiting;
  return {Action::Kind::wait, 0, backoff_.next()};
}

}  // namespace ntcpmsg::detail
