#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <ntcpmsg/message.hpp>
#include <unordered_map>

#include "client_key.hpp"
#include "tally.hpp"

namespace server_test {

/// What one I/O thread received from each client. `add` and `forget` are for that thread only and
/// take no lock, except for a client's first and last message.
class ThreadCounters {
 public:
  void add(const ntcpmsg::Message& message) {
    // Messages come in batches of one client.
    if (current_ == nullptr || !current_key_.owns(message)) select(message);
    current_->add(message.payload().size());
  }

  void forget(const ClientKey& client);

  struct Sum {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };
  /// Adds what this thread received from the client. For any thread.
  void add_to(Sum& sum, const ClientKey& client) const;

 private:
  void select(const ntcpmsg::Message& message);

  ClientKey current_key_;
  Tally* current_ = nullptr;
  // Changes of the map are made under the lock, by the owning thread alone.
  mutable std::mutex mutex_;
  std::unordered_map<ClientKey, std::unique_ptr<Tally>, ClientKeyHash> clients_;
};

}  // namespace server_test
