#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "ntcpmsg/policies.hpp"

namespace ntcpmsg::detail {

/// Exponential back-off with full jitter: the wait before retry n is uniform in
/// [0, min(cap, base * 2^n)], so that clients of a restarted server do not come back in step.
class Backoff {
 public:
  Backoff(Milliseconds base, Milliseconds cap, std::uint64_t seed) noexcept
      : base_(base), cap_(cap), random_(seed) {}

  Milliseconds next() {
    const Milliseconds ceiling = base_.count() > (cap_.count() >> exponent_)
                                     ? cap_
                                     : Milliseconds(base_.count() << exponent_);
    exponent_ = std::min(exponent_ + 1, 62);
    return Milliseconds(std::uniform_int_distribution<std::int64_t>(0, ceiling.count())(random_));
  }

  void reset() noexcept { exponent_ = 0; }

 private:
  Milliseconds base_;
  Milliseconds cap_;
  int exponent_ = 0;
  std::mt19937_64 random_;
};

}  // namespace ntcpmsg::detail
