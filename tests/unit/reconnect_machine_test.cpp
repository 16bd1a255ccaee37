#include "policy/reconnect_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "machine_printers.hpp"

namespace ntcpmsg::detail {
namespace {

using Action = ReconnectMachine::Action;
using Kind = Action::Kind;
using State = ReconnectMachine::State;

constexpr ReconnectOptions enabled{.enabled = true,
                                   .base = Milliseconds(100),
                                   .cap = Milliseconds(5000),
                                   .stable_after = Milliseconds(3000),
                                   .seed = std::nullopt};
constexpr ReconnectOptions disabled{};
const TimePoint now{Milliseconds(1'000'000)};

constexpr Action none{};
constexpr Action resolve{Kind::resolve};
constexpr Action negotiate{Kind::negotiate};
constexpr Action give_up{Kind::give_up};
constexpr Action connect_to(std::size_t address) { return {Kind::connect, address}; }

ReconnectMachine machine_in(State state, const ReconnectOptions& options = enabled) {
  ReconnectMachine machine(options, 1);
  if (state == State::stopped) return machine;
  machine.start();
  if (state == State::resolving) return machine;
  if (state == State::waiting) {
    machine.on_resolve_failed();
    return machine;
  }
  machine.on_resolved(2);
  if (state == State::connecting) return machine;
  machine.on_connected();
  if (state == State::up) machine.on_established(now);
  return machine;
}

constexpr State all_states[] = {State::stopped,
                                State::resolving,
                                State::connecting,
                                State::negotiating,
                                State::up,
                                State::waiting};

TEST(ReconnectMachine, resolves_connects_and_negotiates) {
  ReconnectMachine machine(enabled, 1);
  EXPECT_EQ(machine.state(), State::stopped);
  EXPECT_EQ(machine.start(), resolve);
  EXPECT_EQ(machine.on_resolved(1), connect_to(0));
  EXPECT_EQ(machine.on_connected(), negotiate);
  machine.on_established(now);
  EXPECT_EQ(machine.state(), State::up);
}

TEST(ReconnectMachine, tries_all_addresses_before_it_waits) {
  ReconnectMachine machine = machine_in(State::resolving);
  EXPECT_EQ(machine.on_resolved(3), connect_to(0));
  EXPECT_EQ(machine.on_connect_failed(), connect_to(1));
  EXPECT_EQ(machine.on_connect_failed(), connect_to(2));
  EXPECT_EQ(machine.on_connect_failed().kind, Kind::wait);
  EXPECT_EQ(machine.state(), State::waiting);
}

TEST(ReconnectMachine, begins_with_the_first_address_at_each_try) {
  ReconnectMachine machine = machine_in(State::resolving);
  machine.on_resolved(2);
  machine.on_connect_failed();
  machine.on_connect_failed();
  EXPECT_EQ(machine.on_time(), resolve);
  EXPECT_EQ(machine.on_resolved(2), connect_to(0));
}

TEST(ReconnectMachine, waits_when_the_name_has_no_address_or_cannot_be_resolved) {
  EXPECT_EQ(machine_in(State::resolving).on_resolved(0).kind, Kind::wait);
  EXPECT_EQ(machine_in(State::resolving).on_resolve_failed().kind, Kind::wait);
}

TEST(ReconnectMachine, waits_when_a_session_ends_during_negotiation_or_later) {
  EXPECT_EQ(machine_in(State::negotiating).on_lost(now).kind, Kind::wait);
  EXPECT_EQ(machine_in(State::up).on_lost(now).kind, Kind::wait);
}

TEST(ReconnectMachine, tries_once_only_when_reconnecting_is_off) {
  EXPECT_EQ(machine_in(State::resolving, disabled).on_resolved(0), give_up);
  EXPECT_EQ(machine_in(State::resolving, disabled).on_resolve_failed(), give_up);
  ReconnectMachine connecting = machine_in(State::connecting, disabled);
  EXPECT_EQ(connecting.on_connect_failed(), connect_to(1));
  EXPECT_EQ(connecting.on_connect_failed(), give_up);
  EXPECT_EQ(machine_in(State::negotiating, disabled).on_lost(now), give_up);
  ReconnectMachine up = machine_in(State::up, disabled);
  EXPECT_EQ(up.on_lost(now), give_up);
  EXPECT_EQ(up.state(), State::stopped);
}

TEST(ReconnectMachine, can_be_started_again_after_it_gave_up) {
  ReconnectMachine machine = machine_in(State::up, disabled);
  machine.on_lost(now);
  EXPECT_EQ(machine.start(), resolve);
}

TEST(ReconnectMachine, does_not_wait_any_longer_when_it_is_started) {
  EXPECT_EQ(machine_in(State::waiting).start(), resolve);
}

TEST(ReconnectMachine, is_started_already_in_the_middle_of_a_try) {
  for (const State state : {State::resolving, State::connecting, State::negotiating, State::up}) {
    ReconnectMachine machine = machine_in(state);
    EXPECT_EQ(machine.start(), none) << state;
    EXPECT_EQ(machine.state(), state);
  }
}

TEST(ReconnectMachine, can_be_stopped_from_any_state_and_does_nothing_then) {
  for (const State state : all_states) {
    ReconnectMachine machine = machine_in(state);
    machine.stop();
    EXPECT_EQ(machine.on_time(), none) << state;
    EXPECT_EQ(machine.on_resolved(1), none) << state;
    EXPECT_EQ(machine.on_resolve_failed(), none) << state;
    EXPECT_EQ(machine.on_connected(), none) << state;
    EXPECT_EQ(machine.on_connect_failed(), none) << state;
    machine.on_established(now);
    EXPECT_EQ(machine.on_lost(now), none) << state;
    EXPECT_EQ(machine.state(), State::stopped) << state;
  }
}

TEST(ReconnectMachine, ignores_events_in_states_they_do_not_belong_to) {
  for (const State state : all_states) {
    const auto ignores = [state](auto event) {
      ReconnectMachine machine = machine_in(state);
      EXPECT_EQ(event(machine), none) << state;
      EXPECT_EQ(machine.state(), state);
    };
    using M = ReconnectMachine;
    if (state != State::resolving) ignores([](M& m) { return m.on_resolved(1); });
    if (state != State::resolving) ignores([](M& m) { return m.on_resolve_failed(); });
    if (state != State::connecting) ignores([](M& m) { return m.on_connected(); });
    if (state != State::connecting) ignores([](M& m) { return m.on_connect_failed(); });
    if (state != State::waiting) ignores([](M& m) { return m.on_time(); });
    if (state != State::negotiating) ignores([](M& m) { return m.on_established(now), none; });
    if (state != State::negotiating && state != State::up) {
      ignores([](M& m) { return m.on_lost(now); });
    }
  }
}

/// The longest wait of many machines whose `failures`th try fails after being up for `up_for`.
Milliseconds longest_wait_after(int failures, Milliseconds up_for) {
  Milliseconds longest{0};
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    ReconnectMachine machine(enabled, seed);
    machine.start();
    for (int i = 1; i < failures; ++i) {
      machine.on_resolve_failed();
      machine.on_time();
    }
    machine.on_resolved(1);
    machine.on_connected();
    machine.on_established(now);
    longest = std::max(longest, machine.on_lost(now + up_for).wait);
  }
  return longest;
}

TEST(ReconnectMachine, waits_longer_after_each_failure_up_to_the_cap) {
  EXPECT_LE(longest_wait_after(1, Milliseconds(0)), Milliseconds(100));
  EXPECT_GT(longest_wait_after(2, Milliseconds(0)), Milliseconds(100));
  EXPECT_LE(longest_wait_after(2, Milliseconds(0)), Milliseconds(200));
  EXPECT_GT(longest_wait_after(20, Milliseconds(0)), Milliseconds(4000));
  EXPECT_LE(longest_wait_after(20, Milliseconds(0)), Milliseconds(5000));
}

TEST(ReconnectMachine, starts_with_short_waits_again_after_a_connection_that_was_stable) {
  EXPECT_LE(longest_wait_after(20, enabled.stable_after), Milliseconds(100));
}

TEST(ReconnectMachine, goes_on_with_long_waits_after_a_connection_that_was_not_stable) {
  EXPECT_GT(longest_wait_after(20, enabled.stable_after - Milliseconds(1)), Milliseconds(4000));
}

TEST(ReconnectMachine, goes_on_with_long_waits_when_negotiation_fails_however_long_it_took) {
  Milliseconds longest{0};
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    ReconnectMachine machine(enabled, seed);
    machine.start();
    for (int i = 0; i < 10; ++i) {
      machine.on_resolve_failed();
      machine.on_time();
    }
    machine.on_resolved(1);
    machine.on_connected();
    longest = std::max(longest, machine.on_lost(TimePoint::max()).wait);
  }
  EXPECT_GT(longest, Milliseconds(4000));
}

TEST(ReconnectMachine, starts_with_short_waits_again_after_it_was_stopped) {
  Milliseconds longest{0};
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    ReconnectMachine machine(enabled, seed);
    machine.start();
    for (int i = 0; i < 10; ++i) {
      machine.on_resolve_failed();
      machine.on_time();
    }
    machine.stop();
    machine.start();
    longest = std::max(longest, machine.on_resolve_failed().wait);
  }
  EXPECT_LE(longest, Milliseconds(100));
}

}  // namespace
}  // namespace ntcpmsg::detail
