#pragma once

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <memory>
#include <type_traits>
#include <utility>

#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/inplace_function.hpp"

namespace ntcpmsg::detail {

class ClientCore;

/// Takes the outcome of a request; called once, never under a lock. The reply is valid during the
/// call; on `Errc::remote_error` it holds the peer's text.
using ReplyCompletion = InplaceFunction<void(const error_code&, BytesView)>;

/// Runs `step` on the client's I/O thread, not inside this call.
void run_later(ClientCore& core, InplaceFunction<void()> step);
/// Raises the client's error event for the exception being handled.
void report_thrown(ClientCore& core) noexcept;

/// A handler that asks for nothing but to be called: no executor, no allocator, no cancellation.
/// Such a one is called on the I/O thread itself, which costs a tenth of the general way.
template <typename Handler>
inline constexpr bool is_plain_handler = [] {
  struct None {};
  return std::is_same_v<boost::asio::associated_executor_t<Handler, None>, None> &&
         std::is_same_v<boost::asio::associated_cancellation_slot_t<Handler, None>, None> &&
         std::is_same_v<boost::asio::associated_allocator_t<Handler>, std::allocator<void>>;
}();

/// The completion of a request made with a plain handler.
template <typename Reply, typename Handler>
class PlainReply {
 public:
  PlainReply(ClientCore& core,
             Handler handler) noexcept(std::is_nothrow_move_constructible_v<Handler>)
      : core_(&core), handler_(std::move(handler)) {}

  void operator()(const error_code& ec, BytesView reply) {
    // A failure may come from inside the call that made the request.
    if (ec) return run_later(*core_, Failure{std::move(handler_), ec});
    try {
      std::move(handler_)(ec, Reply(reply.begin(), reply.end()));
    } catch (...) {
      report_thrown(*core_);
    }
  }

 private:
  struct Failure {
    Handler handler;
    error_code ec;
    void operator()() { std::move(handler)(ec, Reply()); }
  };

  ClientCore* core_;
  Handler handler_;
};

}  // namespace ntcpmsg::detail
