#pragma once

#include <new>
#include <string>
#include <utility>

#include "base/one_shot_event.hpp"
#include "session/request_table.hpp"

namespace ntcpmsg::detail {

/// The outcome of a request whose caller sleeps; lives on the caller's stack.
class BlockingReply {
 public:
  /// `reply` is assigned to, so that its memory can be used again.
  explicit BlockingReply(Bytes& reply) noexcept : reply_(reply) { reply_.clear(); }
  BlockingReply(const BlockingReply&) = delete;
  BlockingReply& operator=(const BlockingReply&) = delete;

  /// What goes into the request table.
  ReplyCompletion completion() noexcept {
    return [this](const error_code& ec, BytesView reply) { complete(ec, reply); };
  }

  /// Waits for the outcome; at the deadline takes the request out of the table.
  error_code wait(RequestTable& requests, std::uint32_t channel, TimePoint deadline) {
    if (done_.wait_until(deadline)) return error_;
    if (requests.take(channel)) return Errc::timed_out;
    // Somebody is completing it right now.
    done_.wait_until(TimePoint::max());
    return error_;
  }

  /// The request could not be sent: takes it back.
  void withdraw(RequestTable& requests, std::uint32_t channel) {
    if (!requests.take(channel)) done_.wait_until(TimePoint::max());
  }

 private:
  void complete(const error_code& ec, BytesView reply) noexcept {
    error_ = ec;
    try {
      reply_.assign(reply.begin(), reply.end());
    } catch (const std::bad_alloc&) {
      error_ = boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);
    }
    done_.set();
  }

  Bytes& reply_;
  OneShotEvent done_;
  error_code error_;
};

/// Throws the error, with the peer's words when it is a remote error.
[[noreturn]] inline void throw_request_error(error_code ec, BytesView reply) {
  if (ec == Errc::remote_error && !reply.empty()) {
    throw system_error(ec, std::string(as_text(reply)));
  }
  throw system_error(ec);
}

}  // namespace ntcpmsg::detail
