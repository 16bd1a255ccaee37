#include "ntcpmsg/error.hpp"

namespace ntcpmsg {
namespace {

const char* describe(Errc value) noexcept {
  switch (value) {
    case Errc::message_too_large: return "message is larger than the frame or the peer allows";
    case Errc::not_connected: return "not connected";
    case Errc::disconnected: return "the connection was lost while the operation was under way";
    case Errc::would_block: return "the outbound queue is full";
    case Errc::would_deadlock: return "blocking call on the thread it would wait for";
    case Errc::timed_out: return "timed out";
    case Errc::closed: return "closed";
    case Errc::protocol_violation: return "the peer broke the protocol";
    case Errc::message_limit_exceeded: return "the peer announced a message above the limit";
    case Errc::too_many_requests: return "too many requests in flight";
    case Errc::unknown_peer: return "no such peer is connected";
    case Errc::not_supported: return "the peer does not support this";
    case Errc::remote_error: return "the peer failed to handle the request";
    case Errc::end_of_stream: return "the peer closed the connection";
    case Errc::closed_by_user: return "closed by the user";
    case Errc::handler_threw: return "a handler threw an exception";
    case Errc::messages_unsent: return "queued messages could not be sent";
    case Errc::accept_paused: return "accepting is paused, no descriptors are left";
    case Errc::already_listening: return "already listening";
    case Errc::invalid_argument: return "invalid argument";
  }
  return "unknown error";
}

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "ntcpmsg"; }
  std::string message(int value) const override { return describe(static_cast<Errc>(value)); }
};

}  // namespace

const boost::system::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

}  // namespace ntcpmsg
