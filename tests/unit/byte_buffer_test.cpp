#include "base/byte_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <utility>

#include "hex.hpp"

namespace ntcpmsg::detail {
namespace {

using test::from_hex;
using test::to_hex;

ByteBuffer buffer_with(std::size_t count, std::byte value = std::byte{0x11}) {
  ByteBuffer buffer;
  buffer.append(Bytes(count, value));
  return buffer;
}

TEST(ByteBuffer, is_empty_and_owns_nothing_at_first) {
  const ByteBuffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_EQ(buffer.capacity(), 0U);
  EXPECT_TRUE(buffer.view().empty());
}

TEST(ByteBuffer, holds_what_was_appended_in_order) {
  ByteBuffer buffer;
  buffer.append(from_hex("0102"));
  buffer.append(from_hex("030405"));
  EXPECT_EQ(to_hex(buffer.view()), "0102030405");
  EXPECT_FALSE(buffer.empty());
}

TEST(ByteBuffer, takes_no_memory_for_nothing) {
  ByteBuffer buffer;
  buffer.append({});
  buffer.prepare(0);
  buffer.commit(0);
  buffer.consume(0);
  EXPECT_EQ(buffer.capacity(), 0U);
}

TEST(ByteBuffer, loses_what_is_consumed_from_the_front) {
  ByteBuffer buffer;
  buffer.append(from_hex("01020304"));
  buffer.consume(3);
  EXPECT_EQ(to_hex(buffer.view()), "04");
}

TEST(ByteBuffer, counts_prepared_room_only_when_committed) {
  ByteBuffer buffer = buffer_with(1);
  std::byte* const room = buffer.prepare(10);
  EXPECT_EQ(buffer.size(), 1U);
  std::memset(room, 0x22, 10);
  buffer.commit(2);
  EXPECT_EQ(to_hex(buffer.view()), "112222");
}

TEST(ByteBuffer, keeps_its_contents_when_it_grows) {
  ByteBuffer buffer = buffer_with(3, std::byte{0xAB});
  buffer.prepare(1'000'000);
  EXPECT_GE(buffer.capacity(), 1'000'003U);
  EXPECT_EQ(to_hex(buffer.view()), "ababab");
}

TEST(ByteBuffer, at_least_doubles_when_it_grows) {
  ByteBuffer buffer = buffer_with(1000);
  const std::size_t before = buffer.capacity();
  buffer.append(Bytes(before - buffer.size() + 1));
  EXPECT_GE(buffer.capacity(), 2 * before);
}

TEST(ByteBuffer, starts_at_the_front_of_its_memory_when_all_is_consumed) {
  ByteBuffer buffer = buffer_with(400);
  const std::byte* const front = buffer.view().data();
  const std::size_t before = buffer.capacity();
  buffer.consume(400);
  EXPECT_EQ(buffer.prepare(1), front);
  EXPECT_EQ(buffer.capacity(), before);
}

TEST(ByteBuffer, moves_the_rest_to_the_front_instead_of_growing_when_that_is_cheap) {
  ByteBuffer buffer;
  buffer.prepare(1);
  const std::size_t before = buffer.capacity();
  Bytes bytes(before);
  bytes.back() = std::byte{0x77};
  buffer.append(bytes);
  buffer.consume(before - 1);
  buffer.prepare(before - 1);
  EXPECT_EQ(buffer.capacity(), before);
  EXPECT_EQ(to_hex(buffer.view()), "77");
}

TEST(ByteBuffer, grows_instead_of_moving_most_of_its_contents_for_a_little_room) {
  ByteBuffer buffer;
  buffer.prepare(1);
  const std::size_t before = buffer.capacity();
  buffer.append(Bytes(before));
  buffer.consume(before / 4);
  buffer.prepare(1);
  EXPECT_GE(buffer.capacity(), 2 * before);
}

TEST(ByteBuffer, does_not_grow_for_ever_while_its_backlog_stays_the_same) {
  ByteBuffer buffer = buffer_with(400);
  const Bytes bytes(100);
  for (int i = 0; i < 10'000; ++i) {
    buffer.append(bytes);
    buffer.consume(100);
  }
  EXPECT_EQ(buffer.size(), 400U);
  EXPECT_LE(buffer.capacity(), 2048U);
}

TEST(ByteBuffer, keeps_its_memory_when_cleared) {
  ByteBuffer buffer = buffer_with(400);
  const std::size_t before = buffer.capacity();
  buffer.clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.capacity(), before);
}

TEST(ByteBuffer, gives_its_memory_back_when_released_and_can_be_used_again) {
  ByteBuffer buffer = buffer_with(400);
  buffer.release();
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.capacity(), 0U);
  buffer.append(from_hex("99"));
  EXPECT_EQ(to_hex(buffer.view()), "99");
}

TEST(ByteBuffer, hands_over_its_memory_when_moved) {
  ByteBuffer from = buffer_with(3);
  const std::byte* const memory = from.view().data();
  ByteBuffer to(std::move(from));
  EXPECT_EQ(to.view().data(), memory);
  EXPECT_EQ(to.size(), 3U);
  EXPECT_EQ(from.capacity(), 0U);  // NOLINT(bugprone-use-after-move): a moved one is empty
}

TEST(ByteBuffer, drops_its_old_contents_when_another_is_moved_into_it) {
  ByteBuffer from = buffer_with(2, std::byte{0x33});
  ByteBuffer to = buffer_with(5);
  to = std::move(from);
  EXPECT_EQ(to_hex(to.view()), "3333");
  EXPECT_EQ(from.capacity(), 0U);  // NOLINT(bugprone-use-after-move): a moved one is empty
}

TEST(ByteBuffer, exchanges_its_contents_with_another) {
  ByteBuffer a = buffer_with(1, std::byte{0xAA});
  ByteBuffer b = buffer_with(2, std::byte{0xBB});
  a.consume(1);
  a.swap(b);
  EXPECT_EQ(to_hex(a.view()), "bbbb");
  EXPECT_TRUE(b.empty());
}

/// Does the same to a buffer and to a std::deque.
class BufferWithModel {
 public:
  explicit BufferWithModel(std::uint64_t seed) : random_(seed) {}

  void step() {
    switch (below(40)) {
      case 0: buffer_.clear(), model_.clear(); break;
      case 1: buffer_.release(), model_.clear(); break;
      case 2: buffer_ = ByteBuffer(std::move(buffer_)); break;
      default: below(2) == 0 ? write() : consume();
    }
  }

  void check() const {
    ASSERT_EQ(buffer_.size(), model_.size());
    ASSERT_EQ(buffer_.empty(), model_.empty());
    ASSERT_LE(buffer_.size(), buffer_.capacity());
    ASSERT_TRUE(std::ranges::equal(buffer_.view(), model_));
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void write() {
    Bytes bytes(below(700));
    for (std::byte& b : bytes) b = static_cast<std::byte>(random_());
    if (below(2) == 0) {
      buffer_.append(bytes);
    } else {
      std::byte* const room = buffer_.prepare(bytes.size() + below(300));
      std::ranges::copy(bytes, room);
      buffer_.commit(bytes.size());
    }
    model_.insert(model_.end(), bytes.begin(), bytes.end());
  }

  void consume() {
    const std::size_t count = below(3) == 0 ? model_.size() : below(model_.size() + 1);
    buffer_.consume(count);
    model_.erase(model_.begin(), model_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  ByteBuffer buffer_;
  std::deque<std::byte> model_;
  std::mt19937_64 random_;
};

TEST(ByteBuffer, behaves_like_a_queue_of_bytes_whatever_is_done_to_it) {
  BufferWithModel both(4711);
  for (int i = 0; i < 20'000; ++i) {
    both.step();
    ASSERT_NO_FATAL_FAILURE(both.check()) << "step " << i;
  }
}

}  // namespace
}  // namespace ntcpmsg::detail
