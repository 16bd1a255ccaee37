#include "session/request_table.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "wire/frame.hpp"

namespace ntcpmsg::detail {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr TimePoint no_deadline = TimePoint::max();
constexpr std::size_t most_requests = 65'534;

TimePoint at(int milliseconds) { return TimePoint(Milliseconds(milliseconds)); }

/// Somebody who made a request; known again when its completion comes out of the table.
class Sink {
 public:
  ReplyCompletion completion() {
    return [this](error_code, BytesView) { completed_last = this; };
  }

  static inline const Sink* completed_last = nullptr;
};

/// Whose completion it is; null when it is empty.
const Sink* owner_of(ReplyCompletion completion) {
  Sink::completed_last = nullptr;
  if (completion) completion({}, {});
  return Sink::completed_last;
}

std::vector<const Sink*> owners_of(std::vector<ReplyCompletion> completions) {
  std::vector<const Sink*> owners;
  for (auto& completion : completions) owners.push_back(owner_of(std::move(completion)));
  return owners;
}

TEST(RequestTable, numbers_channels_from_one_as_the_original_client_does) {
  RequestTable table(10, 0);
  Sink a;
  Sink b;
  EXPECT_EQ(table.add(a.completion(), 1, no_deadline), 1U);
  EXPECT_EQ(table.add(b.completion(), 1, no_deadline), 2U);
}

TEST(RequestTable, of_a_server_gives_channels_of_servers) {
  RequestTable table(10, first_server_channel);
  Sink sink;
  const auto channel = table.add(sink.completion(), 1, no_deadline);
  EXPECT_EQ(channel, first_server_channel | 1);
  EXPECT_EQ(owner_of(table.take(1)), nullptr);
  EXPECT_EQ(owner_of(table.take(channel)), &sink);
}

TEST(RequestTable, gives_a_request_to_the_first_who_takes_it_only) {
  RequestTable table(10, 0);
  Sink sink;
  const auto channel = table.add(sink.completion(), 1, no_deadline);
  EXPECT_EQ(owner_of(table.take(channel)), &sink);
  EXPECT_EQ(owner_of(table.take(channel)), nullptr);
  EXPECT_EQ(table.in_flight(), 0U);
}

TEST(RequestTable, knows_no_channel_it_did_not_give) {
  RequestTable table(10, 0);
  Sink sink;
  table.add(sink.completion(), 1, no_deadline);
  for (const std::uint32_t channel : {0U, 2U, 0x10001U, 0xFFFFU, 0x7FFF'FFFFU, 0xFFFF'FFFFU}) {
    EXPECT_EQ(owner_of(table.take(channel)), nullptr) << channel;
  }
  EXPECT_EQ(table.in_flight(), 1U);
}

TEST(RequestTable, does_not_give_a_late_reply_the_request_that_uses_its_slot_now) {
  RequestTable table(1, 0);
  Sink early;
  Sink late;
  const auto old_channel = table.add(early.completion(), 1, no_deadline);
  table.take(old_channel);
  const auto new_channel = table.add(late.completion(), 1, no_deadline);
  EXPECT_NE(old_channel, new_channel);
  EXPECT_EQ(owner_of(table.take(old_channel)), nullptr);
  EXPECT_EQ(owner_of(table.take(new_channel)), &late);
}

TEST(RequestTable, gives_a_channel_again_only_after_its_slot_was_used_32768_times) {
  RequestTable table(1, 0);
  Sink sink;
  const auto first = table.add(sink.completion(), 1, no_deadline);
  table.take(first);
  for (int i = 1; i < 32'768; ++i) {
    const auto channel = table.add(sink.completion(), 1, no_deadline);
    ASSERT_NE(channel, first) << i;
    ASSERT_LT(channel, first_server_channel);
    ASSERT_EQ(owner_of(table.take(channel)), &sink);
  }
  EXPECT_EQ(table.add(sink.completion(), 1, no_deadline), first);
}

TEST(RequestTable, does_not_give_a_request_to_a_reply_over_another_link) {
  RequestTable table(10, 0);
  Sink sink;
  const auto channel = table.add(sink.completion(), 5, no_deadline);
  EXPECT_EQ(owner_of(table.take(channel, 6)), nullptr);
  EXPECT_EQ(owner_of(table.take(channel, 5)), &sink);
}

TEST(RequestTable, expects_the_reply_over_the_link_the_request_moved_to) {
  RequestTable table(10, 0);
  Sink sink;
  const auto channel = table.add(sink.completion(), 5, no_deadline);
  table.move_to(channel, 6);
  EXPECT_EQ(owner_of(table.take(channel, 5)), nullptr);
  EXPECT_EQ(owner_of(table.take(channel, 6)), &sink);
}

TEST(RequestTable, does_not_move_a_request_that_has_ended_nor_its_successor) {
  RequestTable table(1, 0);
  Sink sink;
  const auto old_channel = table.add(sink.completion(), 5, no_deadline);
  table.take(old_channel);
  table.move_to(old_channel, 6);
  const auto channel = table.add(sink.completion(), 5, no_deadline);
  table.move_to(old_channel, 6);
  EXPECT_EQ(owner_of(table.take(channel, 5)), &sink);
}

TEST(RequestTable, takes_as_many_requests_as_its_bound_and_not_one_more) {
  RequestTable table(3, 0);
  Sink sink;
  const auto first = table.add(sink.completion(), 1, no_deadline);
  EXPECT_NE(table.add(sink.completion(), 1, no_deadline), 0U);
  EXPECT_NE(table.add(sink.completion(), 1, no_deadline), 0U);
  EXPECT_EQ(table.add(sink.completion(), 1, no_deadline), 0U);
  table.take(first);
  EXPECT_NE(table.add(sink.completion(), 1, no_deadline), 0U);
  EXPECT_EQ(table.in_flight(), 3U);
}

TEST(RequestTable, holds_no_more_than_its_channels_can_tell_apart) {
  RequestTable table(1'000'000, 0);
  Sink sink;
  std::vector<std::uint32_t> channels;
  while (const std::uint32_t channel = table.add(sink.completion(), 1, no_deadline))
    channels.push_back(channel);
  EXPECT_EQ(channels.size(), most_requests);
  for (const std::uint32_t channel : channels)
    ASSERT_EQ(owner_of(table.take(channel)), &sink) << channel;
}

TEST(RequestTable, never_gives_the_channel_of_the_hello) {
  RequestTable table(most_requests, 0);
  Sink sink;
  std::vector<std::uint32_t> channels(most_requests);
  for (std::uint32_t& channel : channels) channel = table.add(sink.completion(), 1, no_deadline);
  // The last slot in its last generation is as near as it gets.
  for (int generation = 0; generation < 32'767; ++generation) {
    table.take(channels.back());
    channels.back() = table.add(sink.completion(), 1, no_deadline);
  }
  EXPECT_EQ(channels.back(), 0x7FFF'FFFEU);
}

TEST(RequestTable, takes_out_all_requests_of_a_link_and_no_others) {
  RequestTable table(10, 0);
  std::array<Sink, 4> sinks;
  table.add(sinks[0].completion(), 1, no_deadline);
  const auto other = table.add(sinks[1].completion(), 2, no_deadline);
  table.add(sinks[2].completion(), 1, at(10));
  const auto moved = table.add(sinks[3].completion(), 1, no_deadline);
  table.move_to(moved, 2);
  EXPECT_THAT(owners_of(table.take_all(1)), UnorderedElementsAre(&sinks[0], &sinks[2]));
  EXPECT_THAT(table.take_all(1), IsEmpty());
  EXPECT_EQ(owner_of(table.take(other)), &sinks[1]);
  EXPECT_EQ(owner_of(table.take(moved)), &sinks[3]);
}

TEST(RequestTable, takes_out_expired_requests_and_tells_the_next_deadline) {
  RequestTable table(10, 0);
  std::array<Sink, 4> sinks;
  table.add(sinks[0].completion(), 1, at(30));
  table.add(sinks[1].completion(), 1, at(10));
  table.add(sinks[2].completion(), 1, at(20));
  table.add(sinks[3].completion(), 1, no_deadline);
  const auto nothing = table.take_expired(at(9));
  EXPECT_THAT(nothing.completions, IsEmpty());
  EXPECT_EQ(nothing.next, at(10));
  auto expired = table.take_expired(at(20));
  EXPECT_THAT(owners_of(std::move(expired.completions)),
              UnorderedElementsAre(&sinks[1], &sinks[2]));
  EXPECT_EQ(expired.next, at(30));
  EXPECT_EQ(table.in_flight(), 2U);
}

TEST(RequestTable, forgets_the_deadline_of_a_request_that_was_answered) {
  RequestTable table(1, 0);
  Sink sink;
  const auto channel = table.add(sink.completion(), 1, at(10));
  table.take(channel);
  EXPECT_EQ(table.take_expired(at(5)).next, no_deadline);
  table.add(sink.completion(), 1, no_deadline);
  EXPECT_THAT(table.take_expired(at(1000)).completions, IsEmpty());
}

TEST(RequestTable, leaves_it_to_the_caller_to_watch_a_request_without_a_deadline) {
  RequestTable table(1, 0);
  Sink sink;
  table.add(sink.completion(), 1, no_deadline);
  const auto expired = table.take_expired(no_deadline);
  EXPECT_THAT(expired.completions, IsEmpty());
  EXPECT_EQ(expired.next, no_deadline);
}

TEST(RequestTable, that_is_full_leaves_the_completion_with_its_owner) {
  RequestTable table(1, 0);
  Sink first;
  Sink second;
  table.add(first.completion(), 1, no_deadline);
  ReplyCompletion completion = second.completion();
  EXPECT_EQ(table.add(std::move(completion), 1, no_deadline), 0U);
  EXPECT_EQ(owner_of(std::move(completion)), &second);
}

/// Counts how often it was taken out of the table.
struct CountedSink {
  std::atomic<int> completed{0};
  ReplyCompletion completion() {
    return [this](error_code, BytesView) { ++completed; };
  }
};

/// Threads that make requests, and take them out in every way there is, all at once.
class Crowd {
 public:
  static constexpr std::size_t threads = 8;
  static constexpr std::size_t requests_each = 10'000;

  void run() {
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < threads; ++i) all.emplace_back([this, i] { work(i); });
    for (std::thread& thread : all) thread.join();
    for (RequestTable::Link link = 0; link < threads; ++link) complete(table_.take_all(link));
  }

  std::size_t in_flight() const { return table_.in_flight(); }
  std::size_t completed_times(int times) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(sinks_, [times](const auto& s) { return s.completed == times; }));
  }
  std::size_t refused() const { return refused_; }

 private:
  static void complete(std::vector<ReplyCompletion> taken) {
    for (auto& completion : taken) completion({}, {});
  }

  void work(std::size_t thread) {
    std::mt19937_64 random(thread);
    std::uint32_t channel = 0;
    for (std::size_t i = 0; i < requests_each; ++i) {
      const auto deadline = random() % 2 == 0 ? at(static_cast<int>(random() % 100)) : no_deadline;
      const auto taken =
          table_.add(sinks_[thread * requests_each + i].completion(), thread, deadline);
      if (taken == 0) ++refused_;
      if (taken != 0) channel = taken;
      latest_[random() % threads] = channel;
      take_some(random, thread);
    }
  }

  void take_some(std::mt19937_64& random, std::size_t thread) {
    const std::uint32_t channel = latest_[random() % threads];
    switch (random() % 100) {
      case 0: return complete(table_.take_all(thread));
      case 1: return complete(table_.take_expired(at(50)).completions);
      case 2: return table_.move_to(channel, random() % threads);
      default: break;
    }
    ReplyCompletion completion =
        random() % 2 == 0 ? table_.take(channel) : table_.take(channel, random() % threads);
    if (completion) completion({}, {});
  }

  RequestTable table_{100, 0};
  std::vector<CountedSink> sinks_{threads * requests_each};
  std::array<std::atomic<std::uint32_t>, threads> latest_{};
  std::atomic<std::size_t> refused_{0};
};

TEST(RequestTable, gives_every_request_of_eight_threads_to_exactly_one) {
  Crowd crowd;
  crowd.run();
  EXPECT_EQ(crowd.in_flight(), 0U);
  EXPECT_EQ(crowd.completed_times(0), crowd.refused());
  EXPECT_EQ(crowd.completed_times(1), Crowd::threads * Crowd::requests_each - crowd.refused());
}

}  // namespace
}  // namespace ntcpmsg::detail
