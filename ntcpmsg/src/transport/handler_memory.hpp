#pragma once

#include <array>
#include <atomic>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <new>
#include <utility>

#include "transport/io_thread.hpp"

namespace ntcpmsg::detail {

/// Memory for handlers on their way to an I/O thread. Asio keeps such memory for handlers that
/// come from the thread itself; a wake-up from a sender's thread would take it from the heap each
/// time. A few at a time fit, more go to the heap. Thread-safe.
class HandlerMemory {
 public:
  HandlerMemory() = default;
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;

  void* allocate(std::size_t size) {
    if (size <= block_size) {
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (!taken_[i].exchange(true, std::memory_order_acquire)) return blocks_[i].bytes;
      }
    }
    return ::operator new(size);
  }

  void deallocate(void* memory) noexcept {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (memory == blocks_[i].bytes) return taken_[i].store(false, std::memory_order_release);
    }
    ::operator delete(memory);
  }

 private:
  // What Asio makes of a handler with a pointer, a shared pointer and a few bytes.
  static constexpr std::size_t block_size = 80;

  struct Block {
    alignas(std::max_align_t) std::byte bytes[block_size];
  };

  std::array<Block, 2> blocks_;
  std::array<std::atomic<bool>, 2> taken_{};
};

/// The same as an allocator.
template <typename T>
class HandlerAllocator {
 public:
  using value_type = T;

  explicit HandlerAllocator(HandlerMemory& memory) noexcept : memory_(&memory) {}
  template <typename U>
  // NOLINTNEXTLINE(google-explicit-constructor): as allocators must.
  HandlerAllocator(const HandlerAllocator<U>& other) noexcept : memory_(other.memory_) {}

  T* allocate(std::size_t count) { return static_cast<T*>(memory_->allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { memory_->deallocate(memory); }

  template <typename U>
  bool operator==(const HandlerAllocator<U>& other) const noexcept {
    return memory_ == other.memory_;
  }

 private:
  template <typename U>
  friend class HandlerAllocator;

  HandlerMemory* memory_;
};

/// Posts to the loop of `io_thread`. The handler must keep `memory` alive.
template <typename Handler>
void post(IoThread& io_thread, HandlerMemory& memory, Handler handler) {
  boost::asio::post(
      io_thread.context(),
      boost::asio::bind_allocator(HandlerAllocator<std::byte>(memory), std::move(handler)));
}

}  // namespace ntcpmsg::detail
