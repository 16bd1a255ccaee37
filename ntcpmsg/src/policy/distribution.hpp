#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace ntcpmsg::detail {

/// Which of a cable's connections a message takes. `link_up`, `link_down` and `take_over` are for
/// the cable's I/O thread, the rest for any thread.
class Distribution {
 public:
  explicit Distribution(std::size_t links);

  std::size_t links() const noexcept { return links_; }
  bool is_up(std::size_t link) const noexcept { return up_[link].load(std::memory_order_acquire); }
  std::size_t up_count() const noexcept { return up_count_.load(std::memory_order_acquire); }

  /// The connection whose batch is being filled.
  std::size_t current() const noexcept { return current_.load(std::memory_order_relaxed); }
  /// `link` has its batch, or cannot take any: go to the next one that is up. Does nothing when
  /// another thread has gone on already.
  void advance(std::size_t link) noexcept;

  /// The connection of an order key: the same as long as it lives. Empty when none is up.
  std::optional<std::size_t> for_key(std::uint64_t key) noexcept;

  void link_up(std::size_t link) noexcept;
  void link_down(std::size_t link) noexcept;
  /// The next connection that is up, behind `link`.
  std::optional<std::size_t> next_up(std::size_t link) const noexcept;
  /// The same among those that take plain messages. Of three connections or more one is left to
  /// requests, which would else wait behind every bulk transfer. (The original's cables have such
  /// a connection, too.)
  std::optional<std::size_t> next_for_messages(std::size_t link) const noexcept;
  /// The one left to requests; `links()` when there is none.
  std::size_t request_link() const noexcept {
    return request_link_.load(std::memory_order_relaxed);
  }
  /// The keys of a lost connection continue on another one.
  void take_over(std::size_t lost, std::size_t heir) noexcept;

 private:
  static constexpr std::size_t buckets = 1024;
  static constexpr std::uint16_t nobody = UINT16_MAX;
  static constexpr std::size_t least_for_request_link = 3;

  void choose_request_link() noexcept;
  std::optional<std::size_t> choose(std::uint64_t hash) const noexcept;

  std::size_t links_;
  std::unique_ptr<std::atomic<bool>[]> up_;
  std::atomic<std::size_t> up_count_{0};
  std::atomic<std::size_t> current_{0};
  std::atomic<std::size_t> request_link_;
  std::array<std::atomic<std::uint16_t>, buckets> key_links_;
};

}  // namespace ntcpmsg::detail
