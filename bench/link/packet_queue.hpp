#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "link/link_options.hpp"

namespace bench {

/// Packets on their way, in the order of their release times, in memory that is taken once.
class PacketQueue {
 public:
  PacketQueue(std::size_t capacity, std::size_t packet_size)
      : packet_size_(packet_size),
        // Left as the system gives it: slots that are never used take no memory.
        bytes_(std::make_unique_for_overwrite<std::byte[]>((capacity + 1) * packet_size)),
        waiting_(capacity),
        free_slots_(capacity + 1) {
    std::iota(free_slots_.rbegin(), free_slots_.rend(), std::size_t{0});
  }

  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == waiting_.size(); }

  /// Where the next packet is put before `push`. There is a place even when the queue is full, for
  /// a packet that is dropped.
  std::span<std::byte> room() { return slot(free_slots_.back()); }

  /// Appends the first `size` bytes of `room`. Not when full.
  void push(std::size_t size, LinkTime release) {
    waiting_[(first_ + count_++) % waiting_.size()] = {release, free_slots_.back(), size};
    free_slots_.pop_back();
  }

  /// These three only when not empty.
  LinkTime first_release() const { return waiting_[first_].release; }
  std::span<const std::byte> first() {
    return slot(waiting_[first_].slot).first(waiting_[first_].size);
  }
  void pop() {
    // The last one given back is the next one used, while it is still in the cache.
    free_slots_.push_back(waiting_[first_].slot);
    first_ = (first_ + 1) % waiting_.size();
    --count_;
  }

 private:
  struct Waiting {
    LinkTime release;
    std::size_t slot = 0;
    std::size_t size = 0;
  };

  std::span<std::byte> slot(std::size_t index) {
    return {bytes_.get() + index * packet_size_, packet_size_};
  }

  std::size_t packet_size_;
  std::unique_ptr<std::byte[]> bytes_;
  std::vector<Waiting> waiting_;
  std::vector<std::size_t> free_slots_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace bench
