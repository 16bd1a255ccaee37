#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "link/loss_model.hpp"
#include "link/packet_queue.hpp"
#include "link/rate_limit.hpp"

namespace bench {
namespace {

using std::chrono::microseconds;

constexpr LinkTime start{std::chrono::hours(1)};
constexpr std::uint64_t gigabit = 1'000'000'000;

void push(PacketQueue& queue, unsigned content, std::size_t size, LinkTime release) {
  std::ranges::fill(queue.room().first(size), static_cast<std::byte>(content));
  queue.push(size, release);
}

TEST(RateLimit, takes_time_for_each_bit) {
  RateLimit line(gigabit, 15'000);
  EXPECT_EQ(line.departure(start, 1500), start + microseconds(12));
  EXPECT_EQ(line.departure(start, 125), start + microseconds(13));
}

TEST(RateLimit, does_not_save_up_time) {
  RateLimit line(gigabit, 15'000);
  line.departure(start, 1500);
  const LinkTime later = start + microseconds(1000);
  EXPECT_EQ(line.departure(later, 1500), later + microseconds(12));
}

TEST(RateLimit, drops_what_finds_the_queue_full) {
  RateLimit line(gigabit, 3000);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(line.departure(start, 1500));
  EXPECT_FALSE(line.departure(start, 1500));
  EXPECT_TRUE(line.departure(start + microseconds(12), 1500));
}

TEST(RateLimit, of_zero_limits_nothing) {
  RateLimit line(0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(line.departure(start, 1500), start);
}

TEST(LossModel, loses_the_given_part) {
  LossModel loss(0.01, 1);
  int lost = 0;
  for (int i = 0; i < 100'000; ++i) lost += loss.loses_next() ? 1 : 0;
  EXPECT_NEAR(lost, 1000, 150);
}

TEST(LossModel, repeats_itself_with_the_same_seed) {
  LossModel first(0.5, 7);
  LossModel same(0.5, 7);
  LossModel other(0.5, 8);
  int differences = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool lost = first.loses_next();
    EXPECT_EQ(lost, same.loses_next());
    differences += lost != other.loses_next() ? 1 : 0;
  }
  EXPECT_GT(differences, 300);
}

TEST(LossModel, of_zero_loses_nothing) {
  LossModel loss(0, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(loss.loses_next());
}

TEST(PacketQueue, keeps_content_and_order_round_after_round) {
  PacketQueue queue(3, 100);
  for (unsigned i = 0; i < 20; ++i) {
    push(queue, i, 10 + i, start + microseconds(i));
    push(queue, i + 100, 100, start + microseconds(i));
    EXPECT_EQ(queue.first_release(), start + microseconds(i));
    EXPECT_EQ(queue.first().size(), 10 + i);
    EXPECT_EQ(queue.first().back(), static_cast<std::byte>(i));
    queue.pop();
    EXPECT_EQ(queue.first().front(), static_cast<std::byte>(i + 100));
    queue.pop();
    EXPECT_TRUE(queue.empty());
  }
}

TEST(PacketQueue, has_a_place_for_a_packet_that_is_dropped_when_full) {
  PacketQueue queue(2, 100);
  push(queue, 1, 100, start);
  push(queue, 2, 100, start);
  EXPECT_TRUE(queue.full());
  std::ranges::fill(queue.room(), std::byte{9});
  EXPECT_EQ(queue.first().front(), std::byte{1});
  queue.pop();
  EXPECT_EQ(queue.first().front(), std::byte{2});
  EXPECT_FALSE(queue.full());
}

}  // namespace
}  // namespace bench
