#pragma once

#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "base/deadline.hpp"
#include "base/one_shot_event.hpp"
#include "transport/io_thread.hpp"

namespace ntcpmsg::test {

/// An I/O thread that runs as long as this lives.
class RunningIoThread {
 public:
  RunningIoThread() : thread_(std::make_shared<detail::IoThread>(0)) { thread_->start(); }
  explicit RunningIoThread(std::shared_ptr<detail::IoThread> thread) : thread_(std::move(thread)) {
    thread_->start();
  }
  ~RunningIoThread() { thread_->stop(detail::TimePoint::max()); }
  RunningIoThread(const RunningIoThread&) = delete;
  RunningIoThread& operator=(const RunningIoThread&) = delete;

  const std::shared_ptr<detail::IoThread>& get() const { return thread_; }

  template <typename Call>
  void post(Call call) {
    boost::asio::post(thread_->context(), std::move(call));
  }

  /// Runs `call` there and returns when it has.
  template <typename Call>
  void run(Call call) {
    detail::OneShotEvent done;
    post([&] {
      call();
      done.set();
    });
    done.wait_until(detail::TimePoint::max());
  }

 private:
  std::shared_ptr<detail::IoThread> thread_;
};

}  // namespace ntcpmsg::test
