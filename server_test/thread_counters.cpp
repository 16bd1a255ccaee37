#include "thread_counters.hpp"

namespace server_test {

void ThreadCounters::select(const ntcpmsg::Message& message) {
  const ClientKey client = ClientKey::of(message);
  auto found = clients_.find(client);
  if (found == clients_.end()) {
    const std::lock_guard lock(mutex_);
    found = clients_.emplace(client, std::make_unique<Tally>()).first;
  }
  current_key_ = client;
  current_ = found->second.get();
}

void ThreadCounters::forget(const ClientKey& client) {
  current_ = nullptr;
  const std::lock_guard lock(mutex_);
  clients_.erase(client);
}

void ThreadCounters::add_to(Sum& sum, const ClientKey& client) const {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  sum.messages += found->second->messages();
  sum.bytes += found->second->bytes();
}

}  // namespace server_test
