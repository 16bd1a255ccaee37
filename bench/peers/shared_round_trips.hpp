#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "peers/raw_socket.hpp"

namespace bench {

/// Blocking requests of several threads over one socket at the least cost we know: the first sender
/// writes for all that come meanwhile, and one of those who wait reads for all.
class SharedRoundTrips {
 public:
  SharedRoundTrips(const RawSocket& socket, std::size_t threads)
      : socket_(socket), slots_(std::make_unique<Slot[]>(threads)), threads_(threads) {}

  void round_trip(std::span<const std::byte> payload, std::size_t thread) {
    Slot& slot = slots_[thread];
    slot.state.store(waiting, std::memory_order_relaxed);
    write(payload, static_cast<std::uint32_t>(thread));
    if (reading_.exchange(true)) {
      // Woken by the answer, or to read for the others.
      slot.state.wait(waiting);
      if (slot.state.load() == answered) return;
    }
    // The reader before may have had the answer.
    if (slot.state.load() != answered) read_until_answered(slot);
    hand_over_reading(slot);
  }

 private:
  enum State { waiting, answered, reader };
  struct alignas(64) Slot {
    std::atomic<State> state{answered};
  };

  void write(std::span<const std::byte> payload, std::uint32_t channel) {
    std::unique_lock lock(mutex_);
    const std::size_t at = gathered_.size();
    gathered_.resize(at + raw_header_size + payload.size());
    encode_raw_frame(gathered_.data() + at, 1, channel, payload);
    if (writing_) return;
    writing_ = true;
    while (!gathered_.empty()) {
      leaving_.swap(gathered_);
      lock.unlock();
      socket_.send_all(leaving_);
      leaving_.clear();
      lock.lock();
    }
    writing_ = false;
  }

  void read_until_answered(Slot& mine) {
    mine.state.store(reader);
    bool done = false;
    while (!done) {
      const bool open = reader_.read(socket_, [&](const RawFrame& frame) {
        Slot& slot = slots_[frame.channel];
        if (&slot == &mine) {
          done = true;
        } else {
          slot.state.store(answered);
          slot.state.notify_one();
        }
      });
      if (!open) throw std::runtime_error("the server is gone");
    }
  }

  void hand_over_reading(Slot& mine) {
    mine.state.store(answered);
    for (;;) {
      for (std::size_t i = 0; i < threads_; ++i) {
        State expected = waiting;
        if (!slots_[i].state.compare_exchange_strong(expected, reader)) continue;
        slots_[i].state.notify_one();
        return;
      }
      reading_.store(false);
      // Somebody may have begun to wait in between and seen a reader.
      if (nobody_waits() || reading_.exchange(true)) return;
    }
  }

  bool nobody_waits() const {
    for (std::size_t i = 0; i < threads_; ++i) {
      if (slots_[i].state.load() == waiting) return false;
    }
    return true;
  }

  const RawSocket& socket_;
  std::unique_ptr<Slot[]> slots_;
  std::size_t threads_;
  std::mutex mutex_;
  std::vector<std::byte> gathered_;
  std::vector<std::byte> leaving_;
  bool writing_ = false;
  std::atomic<bool> reading_{false};
  RawReader reader_;
};

}  // namespace bench
