#pragma once

#include <cstdint>
#include <random>

namespace bench {

/// Decides which packets are lost, each independently of the others. The same seed decides the
/// same.
class LossModel {
 public:
  LossModel(double probability, std::uint64_t seed) : lost_(probability), random_(seed) {}

  bool loses_next() { return lost_(random_); }

 private:
  std::bernoulli_distribution lost_;
  std::mt19937_64 random_;
};

}  // namespace bench
