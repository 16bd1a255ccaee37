#pragma once

#include <exception>
#include <functional>
#include <span>
#include <string>

#include "ntcpmsg/message.hpp"
#include "session/session.hpp"

namespace ntcpmsg::detail {

/// The words of an exception, whatever its type.
inline std::string describe(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

/// Gives a message to the user's handler and sees to it that a request is answered: an empty reply
/// when the handler did not, an error when it threw. `on_throw(text)` reports the exception.
template <typename OnThrow>
void dispatch_message(Session& session,
                      const Frame& frame,
                      const std::function<void(Message&)>* handler,
                      OnThrow on_throw) {
  Message message(session, frame);
  if (handler != nullptr) {
    try {
      (*handler)(message);
    } catch (...) {
      const std::string text = describe(std::current_exception());
      if (message.reply_owed()) session.reply_error(frame.header, text);
      return on_throw(text);
    }
  }
  const bool request = (frame.header.flags & flag::sync) != 0;
  if (request && message.reply_owed()) message.reply({});
}

/// Gives the frames to `dispatch` one after the other, until a handler ends the session; returns
/// how many it gave.
template <typename Dispatch>
std::size_t dispatch_messages(const Session& session,
                              std::span<const Frame> frames,
                              Dispatch dispatch) {
  std::size_t count = 0;
  while (count < frames.size()) {
    dispatch(frames[count++]);
    if (!session.open()) break;
  }
  return count;
}

}  // namespace ntcpmsg::detail
