#include "base/event_slot.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace ntcpmsg::detail {
namespace {

using Slot = EventSlot<int()>;
using Cache = HandlerCache<int()>;

TEST(EventSlot, has_no_handler_at_first) {
  const Slot slot;
  EXPECT_EQ(slot.get(), nullptr);
}

TEST(EventSlot, gives_the_handler_set_last) {
  Slot slot;
  slot.set([] { return 1; });
  slot.set([] { return 2; });
  EXPECT_EQ((*slot.get())(), 2);
}

TEST(EventSlot, has_no_handler_after_an_empty_one_was_set) {
  Slot slot;
  slot.set([] { return 1; });
  slot.set(nullptr);
  EXPECT_EQ(slot.get(), nullptr);
}

TEST(EventSlot, keeps_a_handler_alive_that_runs_while_it_is_replaced) {
  Slot slot;
  const auto captured = std::make_shared<int>(5);
  slot.set([&slot, captured] {
    slot.set(nullptr);
    return *captured;
  });
  EXPECT_EQ((*slot.get())(), 5);
  EXPECT_EQ(captured.use_count(), 1);
}

TEST(EventSlot, lets_a_handler_go_whose_captures_use_the_slot_when_they_are_destroyed) {
  Slot slot;
  const std::shared_ptr<int> captured(new int(5), [&slot](const int* value) {
    slot.get();
    delete value;
  });
  slot.set([captured] { return *captured; });
  slot.set(nullptr);
  EXPECT_EQ(captured.use_count(), 1);
}

TEST(HandlerCache, sees_each_handler_that_is_set) {
  Slot slot;
  Cache cache;
  EXPECT_EQ(cache.refresh(slot), nullptr);
  slot.set([] { return 1; });
  EXPECT_EQ((*cache.refresh(slot))(), 1);
  slot.set([] { return 2; });
  EXPECT_EQ((*cache.refresh(slot))(), 2);
  slot.set(nullptr);
  EXPECT_EQ(cache.refresh(slot), nullptr);
}

TEST(HandlerCache, keeps_its_handler_alive_until_it_looks_again) {
  Slot slot;
  Cache cache;
  slot.set([captured = std::make_shared<int>(5)] { return *captured; });
  const auto* const handler = cache.refresh(slot);
  slot.set(nullptr);
  EXPECT_EQ((*handler)(), 5);
}

TEST(HandlerCache, never_sees_an_older_handler_after_a_newer_one) {
  Slot slot;
  std::atomic<bool> stopped{false};
  std::thread setter([&] {
    for (int i = 1; i <= 20'000; ++i) slot.set([i] { return i; });
    stopped = true;
  });
  Cache cache;
  int last = 0;
  bool ordered = true;
  while (!stopped) {
    const auto* const handler = cache.refresh(slot);
    const int seen = handler != nullptr ? (*handler)() : 0;
    ordered = ordered && seen >= last;
    last = seen;
  }
  setter.join();
  EXPECT_TRUE(ordered);
  EXPECT_EQ((*cache.refresh(slot))(), 20'000);
}

}  // namespace
}  // namespace ntcpmsg::detail
