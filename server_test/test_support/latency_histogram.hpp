#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace test_support {

/// Counts values in buckets that are at most 1/128 as wide as the values in them, so that quantiles
/// are that exact over the whole range. Values beyond `max_value` count as that.
class LatencyHistogram {
 public:
  /// 18 minutes in nanoseconds.
  static constexpr std::uint64_t max_value = (std::uint64_t{1} << 40) - 1;

  LatencyHistogram() : buckets_(index_of(max_value) + 1) {}

  void record(std::uint64_t value) noexcept {
    value = std::min(value, max_value);
    ++buckets_[index_of(value)];
    ++count_;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }

  void merge(const LatencyHistogram& other) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }

  std::uint64_t count() const noexcept { return count_; }
  /// 0 without values.
  std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const noexcept { return max_; }

  /// The smallest value that at least this part (0 .. 1) of all values does not exceed, rounded up
  /// to the end of its bucket; 0 without values.
  std::uint64_t quantile(double part) const noexcept {
    if (count_ == 0) return 0;
    const auto wanted = static_cast<std::uint64_t>(
        std::clamp(part, 0.0, 1.0) * static_cast<double>(count_) + rounding);
    const std::uint64_t rank = std::clamp<std::uint64_t>(wanted, 1, count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen >= rank) return std::clamp(last_value_of(i), min_, max_);
    }
    return max_;
  }

 private:
  static constexpr unsigned precision_bits = 7;
  static constexpr std::size_t half = std::size_t{1} << precision_bits;
  // Just below 1: rounds up, except for what is a whole number but for the error of a double.
  static constexpr double rounding = 1 - 1e-6;

  // Values below 2 * half have buckets of their own. Beyond, each power of two has `half` buckets.
  static constexpr std::size_t index_of(std::uint64_t value) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    if (width <= precision_bits + 1) return static_cast<std::size_t>(value);
    const unsigned shift = width - precision_bits - 1;
    return shift * half + static_cast<std::size_t>(value >> shift);
  }

  static constexpr std::uint64_t last_value_of(std::size_t index) noexcept {
    if (index < 2 * half) return index;
    const std::size_t shift = index / half - 1;
    return ((std::uint64_t{index - shift * half} + 1) << shift) - 1;
  }

  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ = 0;
};

}  // namespace test_support
