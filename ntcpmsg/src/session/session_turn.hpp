#pragma once

#include <utility>

#include "session/session.hpp"

// Bodies of the session's two private templates, for its own source files.

namespace ntcpmsg::detail {

template <typename Step>
void Session::run_turn(Step step) {
  if (phase_ == Phase::ended) return;
  const auto self = shared_from_this();
  const auto owner = owner_.lock();
  if (!owner) return end(Errc::closed);
  if (turn_owner_ != nullptr) return step();
  turn_owner_ = owner.get();
  step();
  if (phase_ != Phase::ended && std::exchange(flush_wanted_, false)) queue_->flush();
  if (phase_ != Phase::ended) try_finish();
  turn_owner_ = nullptr;
  // The flush above has its share of writes, too; what is left after it needs a turn of its own.
  if (std::exchange(flush_wanted_, false)) post([](Session& later) { later.flush(); });
  wait_for_more();
}

template <typename Step>
void Session::post(Step step) {
  detail::post(*io_thread_, handler_memory_, [self = shared_from_this(), step = std::move(step)] {
    step(*self);
  });
}

}  // namespace ntcpmsg::detail
