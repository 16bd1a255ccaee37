#include "batch/write_machine.hpp"

#include <gtest/gtest.h>

#include "machine_printers.hpp"

namespace ntcpmsg::detail {
namespace {

using Action = WriteMachine::Action;
using Append = WriteMachine::Append;
using State = WriteMachine::State;

constexpr BatchOptions at_once{.max_bytes = 1000};
constexpr BatchOptions delayed{.max_bytes = 1000, .max_delay = std::chrono::microseconds(50)};

constexpr Append quiet{.gathered = 10, .quiet = true};
constexpr Append in_a_burst{.gathered = 10};
constexpr Append urgent{.gathered = 10, .urgent = true};
constexpr Append on_io_thread{.gathered = 10, .on_io_thread = true, .quiet = true};

WriteMachine idle_machine(const BatchOptions& options = at_once) {
  WriteMachine machine(options);
  machine.on_attached(false);
  return machine;
}

WriteMachine scheduled_machine(const BatchOptions& options = at_once) {
  WriteMachine machine(options);
  machine.on_attached(true);
  return machine;
}

WriteMachine writing_machine(const BatchOptions& options = at_once) {
  WriteMachine machine = scheduled_machine(options);
  machine.on_flush();
  return machine;
}

WriteMachine armed_machine(const BatchOptions& options = at_once) {
  WriteMachine machine = writing_machine(options);
  machine.on_blocked();
  return machine;
}

TEST(WriteMachine, does_nothing_without_a_connection) {
  WriteMachine machine(at_once);
  EXPECT_EQ(machine.on_append(quiet), Action::none);
  EXPECT_EQ(machine.on_append(urgent), Action::none);
  EXPECT_EQ(machine.on_append({.gathered = 1000}), Action::none);
  EXPECT_EQ(machine.on_flush(), Action::none);
  EXPECT_EQ(machine.on_writable(), Action::none);
  EXPECT_EQ(machine.state(), State::offline);
}

TEST(WriteMachine, is_idle_when_a_connection_finds_nothing_to_write) {
  WriteMachine machine(at_once);
  EXPECT_EQ(machine.on_attached(false), Action::none);
  EXPECT_EQ(machine.state(), State::idle);
}

TEST(WriteMachine, schedules_what_waited_for_a_connection) {
  WriteMachine machine(at_once);
  EXPECT_EQ(machine.on_attached(true), Action::schedule);
  EXPECT_EQ(machine.state(), State::scheduled);
}

TEST(WriteMachine, writes_a_lone_message_at_once) {
  WriteMachine machine = idle_machine();
  EXPECT_EQ(machine.on_append(quiet), Action::write);
  EXPECT_EQ(machine.on_written(false, true), Action::none);
  EXPECT_EQ(machine.state(), State::idle);
}

TEST(WriteMachine, schedules_once_for_a_whole_burst) {
  WriteMachine machine = idle_machine();
  EXPECT_EQ(machine.on_append(in_a_burst), Action::schedule);
  EXPECT_EQ(machine.on_append(in_a_burst), Action::none);
  EXPECT_EQ(machine.on_append(quiet), Action::none);
  EXPECT_EQ(machine.on_flush(), Action::write);
}

TEST(WriteMachine, only_schedules_what_its_own_io_thread_appends) {
  WriteMachine machine = idle_machine();
  EXPECT_EQ(machine.on_append(on_io_thread), Action::schedule);
  EXPECT_EQ(machine.on_append(on_io_thread), Action::none);
}

TEST(WriteMachine, writes_an_urgent_message_at_once_whether_idle_or_scheduled) {
  for (WriteMachine machine : {idle_machine(), scheduled_machine(), idle_machine(delayed)}) {
    EXPECT_EQ(machine.on_append(urgent), Action::write);
    EXPECT_EQ(machine.state(), State::writing);
  }
}

TEST(WriteMachine, writes_a_batch_when_it_has_max_bytes_and_not_one_byte_earlier) {
  for (WriteMachine machine : {idle_machine(), scheduled_machine(), scheduled_machine(delayed)}) {
    EXPECT_NE(machine.on_append({.gathered = 999}), Action::write);
    EXPECT_EQ(machine.on_append({.gathered = 1000}), Action::write);
  }
}

TEST(WriteMachine, leaves_everything_to_the_thread_that_is_writing) {
  WriteMachine machine = writing_machine();
  EXPECT_EQ(machine.on_append(quiet), Action::none);
  EXPECT_EQ(machine.on_append(urgent), Action::none);
  EXPECT_EQ(machine.on_append({.gathered = 1000}), Action::none);
  EXPECT_EQ(machine.on_flush(), Action::none);
  EXPECT_EQ(machine.on_writable(), Action::none);
  EXPECT_EQ(machine.state(), State::writing);
}

TEST(WriteMachine, goes_on_writing_while_something_waits) {
  WriteMachine machine = writing_machine();
  EXPECT_EQ(machine.on_written(true, true), Action::write);
  EXPECT_EQ(machine.on_written(true, true), Action::write);
  EXPECT_EQ(machine.on_written(false, true), Action::none);
  EXPECT_EQ(machine.state(), State::idle);
}

TEST(WriteMachine, hands_over_to_the_io_thread_when_the_writer_has_done_its_share) {
  WriteMachine machine = writing_machine();
  EXPECT_EQ(machine.on_written(true, false), Action::schedule);
  EXPECT_EQ(machine.on_flush(), Action::write);
}

TEST(WriteMachine, has_nothing_to_hand_over_when_all_is_written) {
  WriteMachine machine = writing_machine();
  EXPECT_EQ(machine.on_written(false, false), Action::none);
  EXPECT_EQ(machine.state(), State::idle);
}

TEST(WriteMachine, waits_for_writability_when_the_kernel_is_full) {
  WriteMachine machine = writing_machine();
  EXPECT_EQ(machine.on_blocked(), Action::wait_writable);
  EXPECT_EQ(machine.state(), State::armed);
}

TEST(WriteMachine, asks_nobody_to_write_while_the_kernel_is_full) {
  WriteMachine machine = armed_machine();
  EXPECT_EQ(machine.on_append(quiet), Action::none);
  EXPECT_EQ(machine.on_append(urgent), Action::none);
  EXPECT_EQ(machine.on_append({.gathered = 1000}), Action::none);
  EXPECT_EQ(machine.on_flush(), Action::none);
  EXPECT_EQ(machine.state(), State::armed);
}

TEST(WriteMachine, writes_on_when_the_kernel_takes_more) {
  WriteMachine machine = armed_machine();
  EXPECT_EQ(machine.on_writable(), Action::write);
  EXPECT_EQ(machine.on_written(false, true), Action::none);
  EXPECT_EQ(machine.state(), State::idle);
}

TEST(WriteMachine, lets_a_first_message_wait_for_company_as_long_as_it_is_told_to) {
  WriteMachine machine = idle_machine(delayed);
  EXPECT_EQ(machine.on_append(quiet), Action::schedule_delayed);
  EXPECT_EQ(machine.on_append(in_a_burst), Action::none);
  EXPECT_EQ(machine.on_flush(), Action::write);
}

TEST(WriteMachine, lets_a_message_gather_when_somebody_will_write_it_and_no_batch_is_complete) {
  for (const auto& machine : {scheduled_machine(), writing_machine(), armed_machine()}) {
    EXPECT_EQ(machine.gather_limit(), 999U) << machine.state();
  }
  EXPECT_EQ(WriteMachine(at_once).gather_limit(), 0U);
  EXPECT_EQ(idle_machine().gather_limit(), 0U);
}

TEST(WriteMachine, ignores_what_comes_in_the_wrong_state) {
  WriteMachine machine = idle_machine();
  EXPECT_EQ(machine.on_flush(), Action::none);
  EXPECT_EQ(machine.on_writable(), Action::none);
  EXPECT_EQ(machine.on_written(true, true), Action::none);
  EXPECT_EQ(machine.on_blocked(), Action::none);
  EXPECT_EQ(machine.state(), State::idle);
}

TEST(WriteMachine, forgets_the_write_under_way_when_the_connection_goes) {
  WriteMachine machine = writing_machine();
  machine.on_detached();
  EXPECT_EQ(machine.on_written(true, true), Action::none);
  EXPECT_EQ(machine.on_blocked(), Action::none);
  EXPECT_EQ(machine.state(), State::offline);
}

}  // namespace
}  // namespace ntcpmsg::detail
