#include "session/deadline_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace ntcpmsg::detail {
namespace {

TimePoint at(int milliseconds) { return TimePoint(Milliseconds(milliseconds)); }

TEST(DeadlineQueue, that_is_empty_has_nothing_to_wait_for) {
  DeadlineQueue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.earliest(), TimePoint::max());
  EXPECT_EQ(queue.pop_expired(TimePoint::max()), std::nullopt);
}

TEST(DeadlineQueue, tells_the_earliest_deadline_in_whatever_order_they_were_added) {
  DeadlineQueue queue;
  queue.add(0, at(30));
  queue.add(1, at(10));
  queue.add(2, at(20));
  EXPECT_EQ(queue.earliest(), at(10));
}

TEST(DeadlineQueue, gives_what_expired_earliest_first) {
  DeadlineQueue queue;
  queue.add(0, at(30));
  queue.add(1, at(10));
  queue.add(2, at(20));
  EXPECT_EQ(queue.pop_expired(at(25)), 1U);
  EXPECT_EQ(queue.pop_expired(at(25)), 2U);
  EXPECT_EQ(queue.pop_expired(at(25)), std::nullopt);
}

TEST(DeadlineQueue, expires_at_the_deadline_and_not_before) {
  DeadlineQueue queue;
  queue.add(7, at(10));
  EXPECT_EQ(queue.pop_expired(at(10) - TimePoint::duration(1)), std::nullopt);
  EXPECT_EQ(queue.pop_expired(at(10)), 7U);
}

TEST(DeadlineQueue, forgets_what_is_removed) {
  DeadlineQueue queue;
  queue.add(1, at(10));
  queue.add(2, at(20));
  queue.remove(1);
  EXPECT_EQ(queue.earliest(), at(20));
  queue.remove(2);
  EXPECT_TRUE(queue.empty());
}

TEST(DeadlineQueue, does_not_mind_removing_what_is_not_there) {
  DeadlineQueue queue;
  queue.add(3, at(10));
  queue.remove(1);
  queue.remove(1000);
  EXPECT_EQ(queue.pop_expired(at(10)), 3U);
  queue.remove(3);
  EXPECT_TRUE(queue.empty());
}

TEST(DeadlineQueue, takes_a_number_again_after_it_expired_or_was_removed) {
  DeadlineQueue queue;
  queue.add(1, at(10));
  queue.pop_expired(at(10));
  queue.add(1, at(20));
  queue.remove(1);
  queue.add(1, at(30));
  EXPECT_EQ(queue.earliest(), at(30));
}

/// Does the same to a queue and to a map.
class QueueWithModel {
 public:
  void step() {
    const auto id = static_cast<std::uint32_t>(random_() % 200);
    if (const auto found = model_.find(id); found != model_.end()) {
      if (random_() % 2 == 0) return;
      queue_.remove(id);
      model_.erase(found);
    } else if (random_() % 16 == 0) {
      expire(at(static_cast<int>(random_() % 100)));
    } else {
      const TimePoint deadline = at(static_cast<int>(random_() % 1000));
      queue_.add(id, deadline);
      model_.emplace(id, deadline);
    }
  }

  void check() const {
    ASSERT_EQ(queue_.empty(), model_.empty());
    TimePoint earliest = TimePoint::max();
    for (const auto& [id, deadline] : model_) earliest = std::min(earliest, deadline);
    ASSERT_EQ(queue_.earliest(), earliest);
  }

 private:
  void expire(TimePoint now) {
    std::set<std::uint32_t> expected;
    for (const auto& [id, deadline] : model_) {
      if (deadline <= now) expected.insert(id);
    }
    TimePoint last = TimePoint::min();
    while (const auto id = queue_.pop_expired(now)) {
      ASSERT_EQ(expected.erase(*id), 1U);
      ASSERT_GE(model_.at(*id), last);
      last = model_.at(*id);
      model_.erase(*id);
    }
    ASSERT_TRUE(expected.empty());
  }

  DeadlineQueue queue_;
  std::map<std::uint32_t, TimePoint> model_;
  std::mt19937_64 random_{2024};
};

TEST(DeadlineQueue, behaves_like_a_list_of_deadlines_whatever_is_done_to_it) {
  QueueWithModel both;
  for (int i = 0; i < 20'000; ++i) {
    both.step();
    ASSERT_NO_FATAL_FAILURE(both.check()) << "step " << i;
  }
}

}  // namespace
}  // namespace ntcpmsg::detail
