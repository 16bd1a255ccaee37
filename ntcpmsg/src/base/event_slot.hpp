#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace ntcpmsg::detail {

/// A user's handler, replaceable at any time. A handler that runs stays alive until it returns.
template <typename Signature>
class EventSlot {
 public:
  using Handler = std::function<Signature>;

  void set(Handler handler) {
    auto fresh = handler ? std::make_shared<const Handler>(std::move(handler)) : nullptr;
    {
      const std::lock_guard guard(mutex_);
      handler_.swap(fresh);
      version_.fetch_add(1, std::memory_order_release);
    }
    // The old handler's captures are destroyed here, outside the lock.
  }

  /// Null when there is none.
  std::shared_ptr<const Handler> get() const {
    const std::lock_guard guard(mutex_);
    return handler_;
  }

  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Handler> handler_;
  std::atomic<std::uint64_t> version_{0};
};

/// One thread's copy of the handler in a slot: looking whether it was replaced costs one load a
/// message instead of a lock.
template <typename Signature>
class HandlerCache {
 public:
  /// Null when there is none. Valid until the next call.
  const std::function<Signature>* refresh(const EventSlot<Signature>& slot) {
    const std::uint64_t version = slot.version();
    if (version != version_) {
      version_ = version;
      handler_ = slot.get();
    }
    return handler_.get();
  }

 private:
  std::uint64_t version_ = 0;
  std::shared_ptr<const std::function<Signature>> handler_;
};

}  // namespace ntcpmsg::detail
