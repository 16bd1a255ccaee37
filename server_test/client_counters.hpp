#pragma once

#include <memory>
#include <mutex>
#include <ntcpmsg/message.hpp>
#include <vector>

#include "client_key.hpp"
#include "thread_counters.hpp"

namespace server_test {

/// Counts the messages of each client over all I/O threads. One object per process.
class ClientCounters {
 public:
  /// Counts a message. In a handler only.
  void add(const ntcpmsg::Message& message) { of_this_thread().add(message); }

  /// Forgets a client, in the handler of its end.
  void forget(const ClientKey& client) { of_this_thread().forget(client); }

  ThreadCounters::Sum sum(const ClientKey& client) const;

 private:
  ThreadCounters& of_this_thread() {
    static thread_local ThreadCounters* mine = nullptr;
    if (mine == nullptr) mine = &add_thread();
    return *mine;
  }
  ThreadCounters& add_thread();

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadCounters>> threads_;
};

}  // namespace server_test
