#include "policy/distribution.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <vector>

namespace ntcpmsg::detail {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr std::uint64_t key_count = 10'000;

void bring_up(Distribution& distribution, const std::vector<std::size_t>& links) {
  for (const std::size_t link : links) distribution.link_up(link);
}

/// The connections of the next messages when each completes a batch.
std::vector<std::size_t> rotation(Distribution& distribution, int messages) {
  std::vector<std::size_t> links;
  for (int i = 0; i < messages; ++i) {
    links.push_back(distribution.current());
    distribution.advance(links.back());
  }
  return links;
}

std::map<std::uint64_t, std::size_t> links_of_keys(Distribution& distribution) {
  std::map<std::uint64_t, std::size_t> links;
  for (std::uint64_t key = 0; key < key_count; ++key) {
    links[key] = distribution.for_key(key).value();
  }
  return links;
}

TEST(Distribution, has_nobody_up_at_first) {
  Distribution distribution(3);
  EXPECT_EQ(distribution.up_count(), 0U);
  EXPECT_FALSE(distribution.is_up(0));
  EXPECT_EQ(distribution.next_up(0), std::nullopt);
  EXPECT_EQ(distribution.for_key(1), std::nullopt);
}

TEST(Distribution, counts_a_connection_once_however_often_it_is_said_to_be_up_or_down) {
  Distribution distribution(3);
  bring_up(distribution, {1, 1, 2});
  EXPECT_EQ(distribution.up_count(), 2U);
  distribution.link_down(1);
  distribution.link_down(1);
  EXPECT_EQ(distribution.up_count(), 1U);
}

TEST(Distribution, takes_both_of_two_connections_in_turn) {
  Distribution distribution(2);
  bring_up(distribution, {0, 1});
  EXPECT_THAT(rotation(distribution, 5), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_EQ(distribution.request_link(), distribution.links());
}

TEST(Distribution, leaves_one_of_three_connections_or_more_to_requests) {
  Distribution distribution(4);
  bring_up(distribution, {0, 1, 2});
  EXPECT_EQ(distribution.request_link(), 0U);
  EXPECT_THAT(rotation(distribution, 5), ElementsAre(1, 2, 1, 2, 1));
  distribution.link_up(3);
  EXPECT_THAT(rotation(distribution, 3), ElementsAre(2, 3, 1));
}

TEST(Distribution, leaves_another_connection_to_requests_when_that_one_is_lost) {
  Distribution distribution(4);
  bring_up(distribution, {0, 1, 2, 3});
  distribution.link_down(0);
  EXPECT_EQ(distribution.request_link(), 1U);
  EXPECT_THAT(rotation(distribution, 3), ElementsAre(2, 3, 2));
}

TEST(Distribution, leaves_none_to_requests_any_more_when_only_two_connections_are_left) {
  Distribution distribution(3);
  bring_up(distribution, {0, 1, 2});
  distribution.link_down(1);
  EXPECT_EQ(distribution.request_link(), distribution.links());
  EXPECT_THAT(rotation(distribution, 3), UnorderedElementsAre(0, 2, testing::_));
}

TEST(Distribution, gives_no_new_key_to_the_connection_of_the_requests) {
  Distribution distribution(3);
  bring_up(distribution, {0, 1, 2});
  for (const auto& [key, link] : links_of_keys(distribution)) ASSERT_NE(link, 0U) << key;
}

TEST(Distribution, leaves_out_connections_that_are_down) {
  Distribution distribution(7);
  bring_up(distribution, {0, 2, 4, 6});
  EXPECT_THAT(rotation(distribution, 6), ElementsAre(2, 4, 6, 2, 4, 6));
  distribution.link_down(4);
  EXPECT_THAT(rotation(distribution, 4), ElementsAre(2, 6, 2, 6));
}

TEST(Distribution, stays_with_the_only_connection_that_is_up) {
  Distribution distribution(3);
  distribution.link_up(1);
  distribution.advance(distribution.current());
  EXPECT_THAT(rotation(distribution, 3), ElementsAre(1, 1, 1));
}

TEST(Distribution, stays_where_it_is_when_nobody_is_up) {
  Distribution distribution(3);
  distribution.advance(0);
  EXPECT_EQ(distribution.current(), 0U);
}

TEST(Distribution, goes_on_only_once_for_two_threads_that_saw_the_same_batch_full) {
  Distribution distribution(4);
  bring_up(distribution, {0, 1, 2, 3});
  distribution.advance(1);
  distribution.advance(1);
  EXPECT_EQ(distribution.current(), 2U);
  distribution.advance(2);
  distribution.advance(1);
  EXPECT_EQ(distribution.current(), 3U);
}

TEST(Distribution, finds_the_next_connection_behind_one_and_in_the_end_itself) {
  Distribution distribution(4);
  bring_up(distribution, {1, 3});
  EXPECT_EQ(distribution.next_up(1), 3U);
  EXPECT_EQ(distribution.next_up(3), 1U);
  distribution.link_down(3);
  EXPECT_EQ(distribution.next_up(1), 1U);
}

TEST(Distribution, keeps_keys_at_their_connection_whoever_else_comes_and_goes) {
  Distribution distribution(4);
  bring_up(distribution, {0, 1});
  const auto before = links_of_keys(distribution);
  bring_up(distribution, {2, 3});
  rotation(distribution, 5);
  distribution.link_down(2);
  EXPECT_EQ(links_of_keys(distribution), before);
}

TEST(Distribution, keeps_keys_at_a_lost_connection_until_its_heir_takes_over) {
  Distribution distribution(3);
  bring_up(distribution, {0, 1, 2});
  const auto before = links_of_keys(distribution);
  distribution.link_down(1);
  EXPECT_EQ(links_of_keys(distribution), before);
}

TEST(Distribution, moves_only_the_keys_of_the_lost_connection_and_all_to_its_heir) {
  Distribution distribution(4);
  bring_up(distribution, {0, 1, 2, 3});
  auto expected = links_of_keys(distribution);
  for (auto& [key, link] : expected) {
    if (link == 1) link = 3;
  }
  distribution.link_down(1);
  distribution.take_over(1, 3);
  EXPECT_EQ(links_of_keys(distribution), expected);
}

TEST(Distribution, leaves_keys_with_their_heir_when_the_lost_connection_comes_back) {
  Distribution distribution(2);
  bring_up(distribution, {0, 1});
  links_of_keys(distribution);
  distribution.link_down(1);
  distribution.take_over(1, 0);
  distribution.link_up(1);
  for (const auto& [key, link] : links_of_keys(distribution)) ASSERT_EQ(link, 0U) << key;
}

TEST(Distribution, has_no_connection_for_a_key_when_the_last_one_is_lost) {
  Distribution distribution(2);
  distribution.link_up(1);
  links_of_keys(distribution);
  distribution.link_down(1);
  distribution.take_over(1, distribution.links());
  EXPECT_EQ(distribution.for_key(1), std::nullopt);
}

TEST(Distribution, spreads_keys_anew_when_connections_come_back_after_all_were_lost) {
  Distribution distribution(2);
  distribution.link_up(1);
  links_of_keys(distribution);
  distribution.link_down(1);
  distribution.take_over(1, distribution.links());
  bring_up(distribution, {0, 1});
  std::set<std::size_t> used;
  for (const auto& [key, link] : links_of_keys(distribution)) used.insert(link);
  EXPECT_THAT(used, ElementsAre(0, 1));
}

/// How many of the keys 0, step, 2 * step ... each connection gets.
std::vector<std::uint64_t> shares(std::size_t links, std::uint64_t step) {
  Distribution distribution(links);
  for (std::size_t link = 0; link < links; ++link) distribution.link_up(link);
  std::vector<std::uint64_t> counts(links);
  for (std::uint64_t i = 0; i < key_count; ++i) {
    ++counts[distribution.for_key(i * step).value()];
  }
  return counts;
}

TEST(Distribution, spreads_keys_roughly_evenly_whatever_bits_they_differ_in) {
  for (const std::size_t links : {2, 3, 4, 8}) {
    for (const std::uint64_t step : {1ULL, 8ULL, 1024ULL, 1ULL << 32, 1ULL << 48}) {
      const std::size_t used = links < 3 ? links : links - 1;
      const double even = static_cast<double>(key_count) / static_cast<double>(used);
      const auto counts = shares(links, step);
      for (std::size_t link = links - used; link < links; ++link) {
        EXPECT_NEAR(static_cast<double>(counts[link]), even, 0.3 * even)
            << links << " links, keys at a distance of " << step;
      }
    }
  }
}

TEST(Distribution, gives_all_threads_the_same_connection_for_a_key_they_use_first_together) {
  for (int round = 0; round < 20; ++round) {
    Distribution distribution(8);
    bring_up(distribution, {0, 1, 2, 3});
    std::vector<std::map<std::uint64_t, std::size_t>> seen(4);
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (auto& links : seen) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < 4) std::this_thread::yield();
        links = links_of_keys(distribution);
      });
    }
    while (ready < 4) std::this_thread::yield();
    bring_up(distribution, {4, 5, 6, 7});
    for (std::thread& thread : threads) thread.join();
    for (const auto& links : seen) ASSERT_EQ(links, seen.front());
  }
}

}  // namespace
}  // namespace ntcpmsg::detail
