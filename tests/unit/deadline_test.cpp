#include "base/deadline.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace ntcpmsg::detail {
namespace {

constexpr TimePoint now{std::chrono::hours(1000)};

TEST(Deadline, is_the_timeout_after_now) {
  EXPECT_EQ(deadline_after(now, Milliseconds(1500)), now + Milliseconds(1500));
}

TEST(Deadline, of_no_time_is_now) { EXPECT_EQ(deadline_after(now, Milliseconds(0)), now); }

TEST(Deadline, without_a_timeout_never_comes) {
  EXPECT_EQ(deadline_after(now, no_timeout), TimePoint::max());
}

TEST(Deadline, beyond_the_range_of_the_clock_never_comes) {
  const auto room = std::chrono::duration_cast<Milliseconds>(TimePoint::max() - now);
  EXPECT_EQ(deadline_after(now, room + Milliseconds(1)), TimePoint::max());
  EXPECT_EQ(deadline_after(now, no_timeout - Milliseconds(1)), TimePoint::max());
}

TEST(Deadline, just_within_the_range_of_the_clock_comes) {
  const auto room = std::chrono::duration_cast<Milliseconds>(TimePoint::max() - now);
  EXPECT_EQ(deadline_after(now, room - Milliseconds(1)), now + (room - Milliseconds(1)));
}

TEST(Deadline, of_a_negative_timeout_has_come) {
  EXPECT_LE(deadline_after(now, Milliseconds(-1)), now);
}

TEST(Deadline, of_the_most_negative_timeouts_has_come) {
  EXPECT_LE(deadline_after(now, -no_timeout), now);
  EXPECT_LE(deadline_after(now, Milliseconds::min()), now);
}

}  // namespace
}  // namespace ntcpmsg::detail
