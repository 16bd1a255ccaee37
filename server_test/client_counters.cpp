#include "client_counters.hpp"

namespace server_test {

ThreadCounters::Sum ClientCounters::sum(const ClientKey& client) const {
  ThreadCounters::Sum sum;
  const std::lock_guard lock(mutex_);
  for (const auto& thread : threads_) thread->add_to(sum, client);
  return sum;
}

ThreadCounters& ClientCounters::add_thread() {
  const std::lock_guard lock(mutex_);
  return *threads_.emplace_back(std::make_unique<ThreadCounters>());
}

}  // namespace server_test
