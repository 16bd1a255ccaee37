#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "ntcpmsg/bytes.hpp"

namespace ntcpmsg::detail {

/// Growable bytes, never zero-filled, read from the front and written at the back.
/// Invariant: begin_ <= end_ <= capacity_.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    ByteBuffer(std::move(other)).swap(*this);
    return *this;
  }

  std::size_t size() const noexcept { return end_ - begin_; }
  std::size_t capacity() const noexcept { return capacity_; }
  /// Bytes that can be prepared without moving the contents.
  std::size_t room() const noexcept { return capacity_ - end_; }
  bool empty() const noexcept { return begin_ == end_; }
  BytesView view() const noexcept { return {memory_.get() + begin_, size()}; }

  /// Room for `count` bytes behind the contents; `commit` makes them part of them.
  std::byte* prepare(std::size_t count) {
    if (capacity_ - end_ < count) make_room(count);
    return memory_.get() + end_;
  }

  /// The same when there is room for them already.
  std::byte* free_room() noexcept { return memory_.get() + end_; }

  void commit(std::size_t count) noexcept {
    assert(count <= capacity_ - end_);
    end_ += count;
  }

  /// `bytes` must not lie in this buffer.
  void append(BytesView bytes) {
    if (bytes.empty()) return;
    std::memcpy(prepare(bytes.size()), bytes.data(), bytes.size());
    commit(bytes.size());
  }

  void consume(std::size_t count) noexcept {
    assert(count <= size());
    begin_ += count;
    if (begin_ == end_) clear();
  }

  void clear() noexcept { begin_ = end_ = 0; }

  /// Gives the memory back.
  void release() noexcept {
    memory_.reset();
    capacity_ = 0;
    clear();
  }

  void swap(ByteBuffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void make_room(std::size_t count) {
    const std::size_t used = size();
    if (capacity_ - used >= count && begin_ >= used) {
      std::memcpy(memory_.get(), memory_.get() + begin_, used);
    } else {
      const std::size_t wanted = std::max({used + count, 2 * capacity_, minimum_capacity});
      auto grown = std::make_unique_for_overwrite<std::byte[]>(wanted);
      if (used != 0) std::memcpy(grown.get(), memory_.get() + begin_, used);
      memory_ = std::move(grown);
      capacity_ = wanted;
    }
    begin_ = 0;
    end_ = used;
  }

  static constexpr std::size_t minimum_capacity = 512;

  std::unique_ptr<std::byte[]> memory_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ntcpmsg::detail
