#include "base/biased_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

namespace ntcpmsg::detail {
namespace {

constexpr std::uint32_t run = 4;
constexpr std::uint32_t longest_run = run << BiasedLock::most_doublings;

void take(BiasedLock& lock, std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) const std::lock_guard guard(lock);
}

bool biased_after(BiasedLock& lock, std::uint32_t times) {
  take(lock, times);
  return lock.is_biased_to_caller();
}

/// On a thread of its own, which has ended when this returns.
bool another_is_biased_after(BiasedLock& lock, std::uint32_t times) {
  bool biased = false;
  std::thread([&] { biased = biased_after(lock, times); }).join();
  return biased;
}

TEST(BiasedLock, favours_a_thread_that_took_it_often_enough_in_a_row) {
  BiasedLock lock(run);
  EXPECT_FALSE(biased_after(lock, run));
  EXPECT_TRUE(biased_after(lock, 1));
  EXPECT_TRUE(biased_after(lock, 10 * run));
}

TEST(BiasedLock, begins_to_count_again_when_another_thread_came_between) {
  BiasedLock lock(run);
  take(lock, run);
  another_is_biased_after(lock, 1);
  EXPECT_FALSE(biased_after(lock, run));
  EXPECT_TRUE(biased_after(lock, 1));
}

TEST(BiasedLock, favours_nobody_once_another_thread_has_taken_it) {
  BiasedLock lock(run);
  ASSERT_TRUE(biased_after(lock, run + 1));
  EXPECT_FALSE(another_is_biased_after(lock, 1));
  EXPECT_FALSE(lock.is_biased_to_caller());
}

TEST(BiasedLock, favours_the_next_thread_and_the_first_again) {
  BiasedLock lock(run);
  ASSERT_TRUE(biased_after(lock, run + 1));
  EXPECT_TRUE(another_is_biased_after(lock, longest_run + 1));
  EXPECT_TRUE(biased_after(lock, longest_run + 1));
}

TEST(BiasedLock, asks_for_twice_as_many_after_each_change_up_to_a_bound) {
  BiasedLock lock(run);
  take(lock, run + 1);
  for (std::uint32_t wanted = 2 * run; wanted <= longest_run; wanted *= 2) {
    another_is_biased_after(lock, 1);
    EXPECT_FALSE(biased_after(lock, wanted));
    EXPECT_TRUE(biased_after(lock, 1));
  }
  another_is_biased_after(lock, 1);
  EXPECT_TRUE(biased_after(lock, longest_run + 1));
}

TEST(BiasedLock, favours_no_more_than_two_threads_and_serves_the_others_all_the_same) {
  BiasedLock lock(run);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(another_is_biased_after(lock, longest_run + 1));
  EXPECT_FALSE(another_is_biased_after(lock, longest_run + 1));
}

TEST(BiasedLock, keeps_others_out_while_the_favoured_thread_is_in) {
  BiasedLock lock(run);
  take(lock, run + 1);
  std::atomic<bool> left{false};
  std::binary_semaphore begun{0};
  lock.lock();
  ASSERT_TRUE(lock.is_biased_to_caller());
  std::thread other([&] {
    begun.release();
    const std::lock_guard guard(lock);
    EXPECT_TRUE(left.load());
  });
  begun.acquire();
  // Withdrawn: the other thread waits for this one to leave.
  while (lock.is_biased_to_caller()) std::this_thread::yield();
  left.store(true);
  lock.unlock();
  other.join();
}

TEST(BiasedLock, can_be_tried) {
  BiasedLock lock(run);
  const std::unique_lock guard(lock, std::try_to_lock);
  ASSERT_TRUE(guard.owns_lock());
  std::thread([&] { EXPECT_FALSE(lock.try_lock()); }).join();
}

TEST(BiasedLock, can_be_tried_by_the_favoured_thread_and_against_it) {
  BiasedLock lock(run);
  take(lock, run + 1);
  ASSERT_TRUE(lock.try_lock());
  lock.unlock();
  std::thread([&] {
    ASSERT_TRUE(lock.try_lock());
    lock.unlock();
  }).join();
}

/// Threads that take the lock in runs of chance length, so that it favours now one, now another.
class BiasedLockStress : public testing::TestWithParam<int> {
 protected:
  static constexpr int runs = 3'000;

  void work(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < runs; ++i) {
      const auto length = random() % (2 * longest_run);
      for (std::uint64_t k = 0; k < length; ++k) {
        const std::lock_guard guard(lock_);
        count_ = count_ + 1;
      }
      takes_.fetch_add(length);
      if (random() % 4 == 0) std::this_thread::yield();
    }
  }

  BiasedLock lock_{run};
  // volatile: one load and one store per take, so that a lost update shows.
  volatile std::uint64_t count_ = 0;
  std::atomic<std::uint64_t> takes_{0};
};

TEST_P(BiasedLockStress, lets_no_two_threads_in_at_once) {
  std::vector<std::thread> workers;
  for (int t = 0; t < GetParam(); ++t) {
    workers.emplace_back([this, t] { work(static_cast<std::uint64_t>(t)); });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(count_, takes_.load());
}

INSTANTIATE_TEST_SUITE_P(Threads, BiasedLockStress, testing::Values(2, 3, 4, 6));

}  // namespace
}  // namespace ntcpmsg::detail
