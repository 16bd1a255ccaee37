// Many senders at once: every message that was accepted is written exactly once, whole and in the
// order of its sender, whatever the connections do.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <boost/asio/error.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "frames.hpp"
#include "on_io_thread.hpp"
#include "session/send_queue.hpp"

namespace ntcpmsg::detail {
namespace {

/// A message of sender `event`: its number, random bytes, and a checksum over both.
struct Numbered {
  static constexpr std::size_t overhead = 2 * sizeof(std::uint64_t);

  static std::uint64_t checksum(BytesView bytes) {
    std::uint64_t sum = 14'695'981'039'346'656'037U;
    for (const std::byte b : bytes) sum = (sum ^ std::to_integer<unsigned>(b)) * 1'099'511'628'211U;
    return sum;
  }

  static Bytes make(std::uint64_t number, std::mt19937_64& random) {
    Bytes payload(overhead + random() % (random() % 50 == 0 ? 3000 : 60));
    for (std::byte& b : payload) b = static_cast<std::byte>(random());
    std::memcpy(payload.data(), &number, sizeof number);
    const std::size_t end = payload.size() - sizeof(std::uint64_t);
    const std::uint64_t sum = checksum(BytesView(payload).first(end));
    std::memcpy(payload.data() + end, &sum, sizeof sum);
    return payload;
  }

  /// The number; fails when the checksum does not fit.
  static std::uint64_t read(BytesView payload) {
    std::uint64_t number = 0;
    std::uint64_t sum = 0;
    const std::size_t end = payload.size() - sizeof sum;
    std::memcpy(&number, payload.data(), sizeof number);
    std::memcpy(&sum, payload.data() + end, sizeof sum);
    EXPECT_EQ(sum, checksum(payload.first(end)));
    return number;
  }
};

/// A connection with an I/O thread of its own that takes a random part of what it is given, and
/// now and then nothing.
class MoodyTarget final : public WriteTarget {
 public:
  MoodyTarget(SendQueue& queue, test::RunningIoThread& io_thread, std::uint64_t seed)
      : queue_(queue), io_thread_(io_thread), random_(seed) {}

  std::size_t write_some(BytesView bytes, error_code& ec) noexcept override {
    EXPECT_FALSE(writing_.exchange(true)) << "two threads write at the same time";
    std::size_t count = 0;
    const auto mood = random_() % 8;
    if (mood == 0) {
      ec = boost::asio::error::would_block;
    } else {
      count = mood < 3 ? 1 + random_() % bytes.size() : bytes.size();
      received_.insert(
          received_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    }
    EXPECT_TRUE(writing_.exchange(false));
    return count;
  }

  void schedule_flush(std::chrono::microseconds /*delay*/) override {
    post([this] { queue_.flush(); });
  }
  void wait_writable() override {
    EXPECT_FALSE(waiting_.exchange(true)) << "two waits at the same time";
    post([this] {
      waiting_ = false;
      queue_.on_writable();
    });
  }
  void write_failed(error_code /*ec*/) override { ADD_FAILURE(); }
  void queue_drained() override {}
  void trim_later() override {}

  /// On the I/O thread, after `detach`: what is still to come has nothing to do any more.
  void end() { ended_ = true; }
  const Bytes& received() const { return received_; }

 private:
  template <typename Call>
  void post(Call call) {
    io_thread_.post([this, call] {
      if (!ended_) call();
    });
  }

  SendQueue& queue_;
  test::RunningIoThread& io_thread_;
  std::mt19937_64 random_;
  Bytes received_;
  std::atomic<bool> writing_{false};
  std::atomic<bool> waiting_{false};
  bool ended_ = false;
};

class Senders {
 public:
  Senders(SendQueue& queue, std::size_t count, AppendOptions options)
      : queue_(queue), options_(options), accepted_(count) {
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this, i] { send(i); });
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
  }
  bool busy() const { return finished_ != threads_.size(); }
  const std::vector<std::uint64_t>& accepted() const { return accepted_; }

 private:
  static constexpr int messages_each = 5000;

  void send(std::size_t sender) {
    std::mt19937_64 random(sender);
    for (int i = 0; i < messages_each; ++i) {
      AppendOptions options = options_;
      options.urgent = random() % 16 == 0;
      options.in_company = random() % 2 == 0;
      options.may_wait = random() % 4 != 0;
      const Bytes payload = Numbered::make(accepted_[sender], random);
      const error_code ec =
          queue_.append({.event = static_cast<std::uint32_t>(sender)}, payload, options);
      EXPECT_TRUE(!ec || ec == Errc::would_block) << ec.message();
      if (!ec) ++accepted_[sender];
    }
    ++finished_;
  }

  SendQueue& queue_;
  AppendOptions options_;
  std::vector<std::uint64_t> accepted_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> finished_{0};
};

/// Checks the messages of a stream, and that the numbers of each sender go on without a gap.
class Receiver {
 public:
  explicit Receiver(std::size_t senders) : next_(senders) {}

  /// Whole frames count; an incomplete one at the end was cut off with its connection.
  void receive(BytesView stream) {
    for (;;) {
      std::array<Frame, 64> frames;
      const DecodeResult result = decode_frames(stream, frames, max_payload_size);
      ASSERT_FALSE(result.error);
      for (std::size_t i = 0; i < result.frames; ++i) {
        const std::uint32_t sender = frames[i].header.event;
        ASSERT_LT(sender, next_.size());
        ASSERT_EQ(Numbered::read(frames[i].payload), next_[sender]++) << "sender " << sender;
      }
      if (result.frames == 0) return;
      stream = stream.subspan(result.consumed);
    }
  }

  const std::vector<std::uint64_t>& received() const { return next_; }

 private:
  std::vector<std::uint64_t> next_;
};

const SendQueue::Config config{.queue = {.high_water_mark = 20'000}, .batch = {.max_bytes = 4000}};

class SendQueueThreads : public testing::TestWithParam<std::size_t> {
 public:
  test::RunningIoThread io_thread;
  SendQueue queue{config, io_thread.get()};

  /// Lets the I/O thread finish what the connections had asked for.
  void drain() {
    io_thread.run([] {});
  }
};

TEST_P(SendQueueThreads, write_each_accepted_message_once_whole_and_in_order) {
  MoodyTarget target(queue, io_thread, 1);
  io_thread.run([&] { queue.attach(target); });
  Senders senders(queue, GetParam(), {});
  senders.join();
  EXPECT_FALSE(queue.wait_empty(Clock::now() + std::chrono::seconds(30)));
  io_thread.run([&] {
    queue.detach();
    target.end();
  });
  drain();
  Receiver receiver(GetParam());
  receiver.receive(target.received());
  EXPECT_EQ(receiver.received(), senders.accepted());
}

TEST_P(SendQueueThreads, lose_and_double_nothing_over_many_connections) {
  Senders senders(queue, GetParam(), {.offline = true});
  Receiver receiver(GetParam());
  bool more = true;
  std::vector<std::unique_ptr<MoodyTarget>> targets;
  while (more) {
    more = senders.busy();
    MoodyTarget& target =
        *targets.emplace_back(std::make_unique<MoodyTarget>(queue, io_thread, targets.size()));
    io_thread.run([&] { queue.attach(target); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const TimePoint deadline = Clock::now() + std::chrono::seconds(30);
    EXPECT_TRUE(more || !queue.wait_empty(deadline));
    io_thread.run([&] {
      queue.detach();
      target.end();
      queue.put_back(queue.take_leftover());
    });
    receiver.receive(target.received());
  }
  senders.join();
  drain();
  EXPECT_EQ(receiver.received(), senders.accepted());
}

INSTANTIATE_TEST_SUITE_P(Senders,
                         SendQueueThreads,
                         testing::Values(4, 8),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ntcpmsg::detail
