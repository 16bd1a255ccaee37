#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <ntcpmsg/message.hpp>
#include <unordered_map>
#include <vector>

#include "client_key.hpp"
#include "push_job.hpp"

namespace server_test {

/// The running push jobs, at most one for each client.
class PushJobs {
 public:
  /// Handle `events::start_push` and `events::stop_push`. They throw what is wrong with the
  /// request, which the requester then gets.
  void start(ntcpmsg::Message& message);
  void stop(ntcpmsg::Message& message);

  /// Ends all jobs, without waiting for that; later ones are refused.
  void stop_all();

  /// Messages pushed by all jobs so far.
  std::uint64_t pushed() const;

 private:
  void retire(std::unique_ptr<PushJob> job);
  void remove_done();

  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::uint64_t pushed_before_ = 0;
  std::unordered_map<ClientKey, std::unique_ptr<PushJob>, ClientKeyHash> jobs_;
  // Replaced jobs that are not done yet: a handler must not wait for their threads.
  std::vector<std::unique_ptr<PushJob>> ending_;
};

}  // namespace server_test
