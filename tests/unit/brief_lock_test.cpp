#include "base/brief_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace ntcpmsg::detail {
namespace {

TEST(BriefLock, cannot_be_taken_while_it_is_held) {
  BriefLock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
}

TEST(BriefLock, can_be_taken_again_when_it_was_given_back) {
  BriefLock lock;
  lock.lock();
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
}

TEST(BriefLock, works_with_the_guards_of_the_standard_library) {
  BriefLock lock;
  {
    const std::scoped_lock guard(lock);
    const std::unique_lock second(lock, std::try_to_lock);
    EXPECT_FALSE(second.owns_lock());
  }
  const std::unique_lock third(lock, std::try_to_lock);
  EXPECT_TRUE(third.owns_lock());
}

TEST(BriefLock, lets_no_two_threads_in_at_once) {
  constexpr int threads = 4;
  constexpr int rounds = 100'000;
  BriefLock lock;
  // volatile: one load and one store per round, so that a lost update shows.
  volatile int count = 0;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        const std::lock_guard guard(lock);
        count = count + 1;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(count, threads * rounds);
}

}  // namespace
}  // namespace ntcpmsg::detail
