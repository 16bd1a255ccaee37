#include "batch/write_machine.hpp"

namespace ntcpmsg::detail {

WriteMachine::Action WriteMachine::on_attached(bool something_waits) noexcept {
  state_ = State::idle;
  return something_waits ? schedule() : Action::none;
}

WriteMachine::Action WriteMachine::on_append(const Append& append) noexcept {
  switch (state_) {
    case State::idle: return on_append_when_idle(append);
    case State::scheduled:
      return append.urgent || append.gathered >= options_.max_bytes ? write() : Action::none;
    case State::offline:
    case State::writing:
    case State::armed: return Action::none;
  }
  return Action::none;
}

WriteMachine::Action WriteMachine::on_append_when_idle(const Append& append) noexcept {
  if (append.urgent || append.gathered >= options_.max_bytes) return write();
  if (options_.max_delay.count() > 0) {
    state_ = State::scheduled;
    return Action::schedule_delayed;
  }
  return append.quiet && !append.on_io_thread ? write() : schedule();
}

WriteMachine::Action WriteMachine::on_flush() noexcept {
  return state_ == State::scheduled ? write() : Action::none;
}

WriteMachine::Action WriteMachine::on_written(bool something_waits, bool may_go_on) noexcept {
  if (state_ != State::writing) return Action::none;
  if (!something_waits) {
    state_ = State::idle;
    return Action::none;
  }
  return may_go_on ? Action::write : schedule();
}

WriteMachine::Action WriteMachine::on_blocked() noexcept {
  if (state_ != State::writing) return Action::none;
  state_ = State::armed;
  return Action::wait_writable;
}

WriteMachine::Action WriteMachine::on_writable() noexcept {
  return state_ == State::armed ? write() : Action::none;
}

}  // namespace ntcpmsg::detail
