#include "base/backoff.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace ntcpmsg::detail {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> waits(Backoff& backoff, int count) {
  std::vector<std::int64_t> result;
  for (int i = 0; i < count; ++i) result.push_back(backoff.next().count());
  return result;
}

/// The shortest and the longest wait before each of the first retries, over many seeds.
struct Range {
  std::vector<std::int64_t> shortest;
  std::vector<std::int64_t> longest;
};

Range ranges(Milliseconds base, Milliseconds cap, std::size_t retries) {
  Range range{std::vector(retries, std::numeric_limits<std::int64_t>::max()),
              std::vector(retries, std::numeric_limits<std::int64_t>::min())};
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Backoff backoff(base, cap, seed);
    for (std::size_t i = 0; i < retries; ++i) {
      const std::int64_t wait = backoff.next().count();
      range.shortest[i] = std::min(range.shortest[i], wait);
      range.longest[i] = std::max(range.longest[i], wait);
    }
  }
  return range;
}

TEST(Backoff, waits_between_nothing_and_the_doubling_base_up_to_the_cap) {
  const Range range = ranges(Milliseconds(4), Milliseconds(20), 6);
  EXPECT_THAT(range.shortest, ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(range.longest, ElementsAre(4, 8, 16, 20, 20, 20));
}

TEST(Backoff, reaches_a_cap_that_is_a_power_of_two_times_the_base) {
  EXPECT_THAT(ranges(Milliseconds(5), Milliseconds(20), 4).longest, ElementsAre(5, 10, 20, 20));
}

TEST(Backoff, stays_below_a_cap_that_is_shorter_than_the_base) {
  EXPECT_THAT(ranges(Milliseconds(100), Milliseconds(10), 2).longest, ElementsAre(10, 10));
}

TEST(Backoff, starts_from_the_base_again_after_a_reset) {
  std::int64_t longest = 0;
  Backoff backoff(Milliseconds(4), Milliseconds(100'000), 1);
  for (int i = 0; i < 500; ++i) {
    waits(backoff, 10);
    backoff.reset();
    longest = std::max(longest, backoff.next().count());
  }
  EXPECT_EQ(longest, 4);
}

TEST(Backoff, repeats_itself_with_the_same_seed) {
  Backoff a(Milliseconds(100), Milliseconds(5000), 9);
  Backoff b(Milliseconds(100), Milliseconds(5000), 9);
  EXPECT_EQ(waits(a, 50), waits(b, 50));
}

TEST(Backoff, differs_with_another_seed) {
  Backoff a(Milliseconds(100), Milliseconds(5000), 9);
  Backoff b(Milliseconds(100), Milliseconds(5000), 10);
  EXPECT_NE(waits(a, 50), waits(b, 50));
}

TEST(Backoff, stays_within_the_cap_after_a_thousand_retries) {
  Backoff backoff(Milliseconds(100), Milliseconds(5000), 3);
  for (const std::int64_t wait : waits(backoff, 1000)) {
    EXPECT_GE(wait, 0);
    EXPECT_LE(wait, 5000);
  }
}

TEST(Backoff, does_not_overflow_without_a_cap) {
  for (const std::int64_t base : {std::int64_t{1}, std::int64_t{3}, no_timeout.count()}) {
    Backoff backoff(Milliseconds(base), no_timeout, 3);
    for (const std::int64_t wait : waits(backoff, 1000)) EXPECT_GE(wait, 0);
  }
}

TEST(Backoff, never_waits_when_the_base_is_zero) {
  Backoff backoff(Milliseconds(0), Milliseconds(5000), 3);
  EXPECT_THAT(waits(backoff, 100), testing::Each(0));
}

}  // namespace
}  // namespace ntcpmsg::detail
