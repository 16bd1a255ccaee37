#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <type_traits>

namespace ntcpmsg {

using error_code = boost::system::error_code;
using system_error = boost::system::system_error;

/// What the library itself reports. Errors of the operating system keep their own category.
enum class Errc {
  /// The payload is longer than a frame can carry, or than the peer said it accepts. Nothing was
  /// written.
  message_too_large = 1,
  /// There is no connection, and the client is not told to queue (`OfflinePolicy::fail`).
  not_connected,
  /// The connection was lost or closed while the operation was under way. A request may or may not
  /// have been handled by the peer.
  disconnected,
  /// The outbound queue is full and the call may not wait (always so inside a callback).
  would_block,
  /// A blocking call was made on the thread that must do the work it waits for.
  would_deadlock,
  /// The operation did not finish within its time limit.
  timed_out,
  /// The object was closed for good; no further operation is possible.
  closed,
  /// The peer sent bytes that are not a frame where one must start, or broke another rule.
  protocol_violation,
  /// The peer announced a message longer than `max_message_size`.
  message_limit_exceeded,
  /// As many requests as the table can hold are already in flight.
  too_many_requests,
  /// No session with that endpoint, cable id or handle is connected (any more).
  unknown_peer,
  /// The peer does not speak the extension this needs (an original NTCPMSG peer).
  not_supported,
  /// The peer's handler failed, or dropped the request without an answer.
  remote_error,
  /// The peer closed the connection in an orderly way.
  end_of_stream,
  /// The user closed the connection or disconnected it.
  closed_by_user,
  /// A user handler threw; the text of the exception is in `ErrorEvent::text`.
  handler_threw,
  /// Messages were accepted for sending but could not leave; `ErrorEvent::count` tells how many.
  messages_unsent,
  /// Accepting is paused because the process has no free descriptor (or memory) left.
  accept_paused,
  /// `listen` was called on a listener that is already listening on that endpoint, or was closed.
  already_listening,
  /// An argument is outside its stated range.
  invalid_argument,
};

const boost::system::error_category& error_category() noexcept;

inline error_code make_error_code(Errc value) noexcept {
  return {static_cast<int>(value), error_category()};
}

}  // namespace ntcpmsg

template <>
struct boost::system::is_error_code_enum<ntcpmsg::Errc> : std::true_type {};
