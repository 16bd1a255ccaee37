#include "session/hello_machine.hpp"

namespace ntcpmsg::detail {

HelloMachine::Action HelloMachine::start(TimePoint now) noexcept {
  ++tries_;
  deadline_ = deadline_after(now, timeout_);
  return Action::send;
}

HelloMachine::Action HelloMachine::on_reply(BytesView payload) noexcept {
  if (done_) return Action::none;
  done_ = true;
  peer_ = decode_hello(payload);
  return peer_ ? Action::agreed : Action::plain;
}

HelloMachine::Action HelloMachine::on_time(TimePoint now) noexcept {
  if (done_ || now < deadline_) return Action::none;
  if (tries_ < most_tries) return start(now);
  done_ = true;
  return Action::plain;
}

}  // namespace ntcpmsg::detail
