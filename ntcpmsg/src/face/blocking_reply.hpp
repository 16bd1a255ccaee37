#pragma once

#include <string>

#include "base/one_shot_event.hpp"
#include "session/request_table.hpp"

namespace ntcpmsg::detail {

/// The outcome of a request whose caller sleeps; lives on the caller's stack.
class BlockingReply final : public ReplySink {
 public:
  void complete(error_code ec, BytesView reply) noexcept override {
    error_ = ec;
    try {
      reply_.assign(reply.begin(), reply.end());
    } catch (const std::bad_alloc&) {
      error_ = boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);
    }
    done_.set();
  }

  /// Waits for the outcome; at the deadline takes the request out of the table.
  void wait(RequestTable& requests, std::uint32_t channel, TimePoint deadline) {
    if (done_.wait_until(deadline)) return;
    if (requests.take(channel) != nullptr) {
      error_ = Errc::timed_out;
      return;
    }
    // Somebody is completing it right now.
    done_.wait_until(TimePoint::max());
  }

  /// The request could not be sent: takes it back.
  void withdraw(RequestTable& requests, std::uint32_t channel) {
    if (requests.take(channel) == nullptr) done_.wait_until(TimePoint::max());
  }

  const error_code& error() const noexcept { return error_; }
  Bytes& reply() noexcept { return reply_; }

 private:
  OneShotEvent done_;
  error_code error_;
  Bytes reply_;
};

/// Throws the error, with the peer's words when it is a remote error.
[[noreturn]] inline void throw_request_error(error_code ec, BytesView reply) {
  if (ec == Errc::remote_error && !reply.empty()) {
    throw system_error(ec, std::string(as_text(reply)));
  }
  throw system_error(ec);
}

}  // namespace ntcpmsg::detail
