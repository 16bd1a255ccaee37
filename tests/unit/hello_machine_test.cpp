#include "session/hello_machine.hpp"

#include <gtest/gtest.h>

#include "machine_printers.hpp"

namespace ntcpmsg::detail {
namespace {

using Action = HelloMachine::Action;

constexpr Milliseconds timeout{500};
const TimePoint start{Milliseconds(10'000)};
const TimePoint first_deadline = start + timeout;
const TimePoint second_deadline = first_deadline + timeout;

HelloMachine started() {
  HelloMachine machine(timeout);
  machine.start(start);
  return machine;
}

HelloMachine repeated() {
  HelloMachine machine = started();
  machine.on_time(first_deadline);
  return machine;
}

TEST(HelloMachine, sends_a_hello_and_gives_the_peer_its_time) {
  HelloMachine machine(timeout);
  EXPECT_EQ(machine.start(start), Action::send);
  EXPECT_EQ(machine.deadline(), first_deadline);
  EXPECT_FALSE(machine.done());
}

TEST(HelloMachine, agrees_with_a_peer_that_answers) {
  HelloMachine machine = started();
  const Hello hello{.features = feature::all, .max_message_size = 77};
  EXPECT_EQ(machine.on_reply(encode(hello)), Action::agreed);
  EXPECT_TRUE(machine.done());
  EXPECT_EQ(machine.peer(), hello);
}

TEST(HelloMachine, settles_for_the_plain_protocol_when_the_answer_is_empty) {
  HelloMachine machine = started();
  EXPECT_EQ(machine.on_reply({}), Action::plain);
  EXPECT_TRUE(machine.done());
  EXPECT_FALSE(machine.peer());
}

TEST(HelloMachine, settles_for_the_plain_protocol_when_the_answer_is_cut_short) {
  HelloMachine machine = started();
  const Bytes answer = encode(Hello{.features = feature::all});
  EXPECT_EQ(machine.on_reply(BytesView(answer).first(answer.size() - 1)), Action::plain);
  EXPECT_FALSE(machine.peer());
}

TEST(HelloMachine, waits_until_the_deadline_before_it_asks_again) {
  HelloMachine machine = started();
  EXPECT_EQ(machine.on_time(first_deadline - Milliseconds(1)), Action::none);
  EXPECT_EQ(machine.on_time(first_deadline), Action::send);
  EXPECT_EQ(machine.deadline(), second_deadline);
}

TEST(HelloMachine, takes_the_answer_to_its_second_try) {
  HelloMachine machine = repeated();
  EXPECT_EQ(machine.on_reply(encode(Hello{})), Action::agreed);
}

TEST(HelloMachine, settles_for_the_plain_protocol_when_two_tries_stay_without_answer) {
  HelloMachine machine = repeated();
  EXPECT_EQ(machine.on_time(second_deadline - Milliseconds(1)), Action::none);
  EXPECT_EQ(machine.on_time(second_deadline), Action::plain);
  EXPECT_TRUE(machine.done());
}

TEST(HelloMachine, ignores_everything_once_it_is_done) {
  HelloMachine machine = repeated();
  machine.on_time(second_deadline);
  EXPECT_EQ(machine.on_reply(encode(Hello{})), Action::none);
  EXPECT_EQ(machine.on_time(TimePoint::max()), Action::none);
  EXPECT_FALSE(machine.peer());
}

TEST(HelloMachine, ignores_a_second_answer) {
  HelloMachine machine = repeated();
  machine.on_reply(encode(Hello{.max_message_size = 1}));
  EXPECT_EQ(machine.on_reply(encode(Hello{.max_message_size = 2})), Action::none);
  EXPECT_EQ(machine.peer()->max_message_size, 1U);
}

}  // namespace
}  // namespace ntcpmsg::detail
