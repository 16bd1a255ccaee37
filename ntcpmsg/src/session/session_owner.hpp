#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ntcpmsg/error.hpp"
#include "wire/frame.hpp"
#include "wire/hello.hpp"

namespace ntcpmsg::detail {

class Session;

/// Whom a session tells what happens to it: a client or a listener. Everything is called on the
/// session's I/O thread; exceptions must not leave these functions.
class SessionOwner {
 public:
  /// The session can send and receive from now on.
  virtual void on_established(Session& session) = 0;
  /// Messages and requests of the peer's, at least one. The owner sees to it that a request is
  /// answered. Returns how many it handled: fewer when a handler ended the session.
  virtual std::size_t on_messages(Session& session, std::span<const Frame> frames) = 0;
  /// The peer asks for extensions; the result is the answer.
  virtual Hello on_hello(Session& session, const Hello& request) = 0;
  /// An original cable asks for its id.
  virtual std::uint16_t on_cable_id_request(Session& session) = 0;
  /// Something went wrong that belongs to no call.
  virtual void on_error(Session& session, error_code ec, std::string text) = 0;
  /// The queue is at most half full, after somebody asked to be told.
  virtual void on_writable(Session& session) = 0;
  /// The session ended, once; its queue is detached and holds what could not leave.
  virtual void on_closed(Session& session, error_code reason) = 0;

 protected:
  ~SessionOwner() = default;
};

}  // namespace ntcpmsg::detail
