#pragma once

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <exception>
#include <functional>
#include <utility>

#include "transport/io_thread.hpp"

namespace ntcpmsg::detail {

/// A completion handler that waits for its operation, with the work it stands for. Completed once.
template <typename... Results>
class AsyncOperation {
 public:
  using Handler = boost::asio::any_completion_handler<void(Results...)>;
  /// Gets what a handler throws on an I/O thread of ours, where nobody else could catch it.
  using OnThrow = std::function<void(std::exception_ptr)>;

  AsyncOperation(Handler handler, const boost::asio::any_io_executor& io_executor, OnThrow on_throw)
      : handler_(std::move(handler)),
        io_executor_(io_executor),
        executor_(
            boost::asio::prefer(boost::asio::any_completion_executor(
                                    boost::asio::get_associated_executor(handler_, io_executor)),
                                boost::asio::execution::outstanding_work.tracked)),
        on_throw_(std::move(on_throw)) {}

  /// `cancel()` runs when the user cancels; on the handler's executor, as Asio demands of users.
  template <typename Cancel>
  void on_cancel(Cancel cancel) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([cancel = std::move(cancel)](boost::asio::cancellation_type type) {
      if (type != boost::asio::cancellation_type::none) cancel();
    });
  }

  /// Runs the handler on its executor, never inside this call.
  void complete(Results... results) {
    auto io_executor = std::move(io_executor_);
    boost::asio::post(io_executor,
                      [self = std::move(*this), ... values = std::move(results)]() mutable {
                        self.complete_here(std::move(values)...);
                      });
  }

  /// The same on an I/O thread, where the handler may run inside this call.
  void complete_here(Results... results) {
    const auto executor = std::move(executor_);
    boost::asio::dispatch(executor,
                          [handler = std::move(handler_),
                           on_throw = std::move(on_throw_),
                           ... values = std::move(results)]() mutable {
                            invoke(handler, on_throw, std::move(values)...);
                          });
  }

 private:
  static void invoke(Handler& handler, const OnThrow& on_throw, Results... results) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.clear();
    if (IoThread::current() == nullptr) return std::move(handler)(std::move(results)...);
    try {
      std::move(handler)(std::move(results)...);
    } catch (...) {
      on_throw(std::current_exception());
    }
  }

  Handler handler_;
  boost::asio::any_io_executor io_executor_;
  boost::asio::any_completion_executor executor_;
  OnThrow on_throw_;
};

}  // namespace ntcpmsg::detail
