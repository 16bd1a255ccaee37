#include "policy/cable_machine.hpp"

#include <gtest/gtest.h>

#include "machine_printers.hpp"

namespace ntcpmsg::detail {
namespace {

using Action = CableMachine::Action;

constexpr CableToken token_a{std::byte{0xA}};
constexpr CableToken token_b{std::byte{0xB}};

/// What a listener of ours answers.
Hello bound_to(std::uint16_t id, const CableToken& token) {
  return {.cable_id = id, .cable_token = token};
}

/// A hello of a listener that binds no cables, and the answer of an original one.
const std::optional<Hello> without_token = Hello{};
const std::optional<Hello> plain_peer = std::nullopt;

/// A cable of links 0 and 1 with a listener of ours.
CableMachine cable_with_token() {
  CableMachine machine;
  machine.on_established(0, bound_to(7, token_a));
  machine.on_established(1, bound_to(7, token_a));
  return machine;
}

/// A cable of links 0, 1 and 2 with an original listener; link 0 asked for the id.
CableMachine plain_cable() {
  CableMachine machine;
  machine.on_established(0, plain_peer);
  machine.on_id(0, 7);
  machine.on_established(1, plain_peer);
  machine.on_established(2, plain_peer);
  return machine;
}

void expect_wish(const CableMachine& machine,
                 CableWish wish,
                 const std::optional<CableToken>& token) {
  EXPECT_EQ(machine.wish().cable_wish, wish);
  EXPECT_EQ(machine.wish().cable_token, token);
}

TEST(CableMachine, wishes_for_a_new_cable_first) {
  const CableMachine machine;
  expect_wish(machine, CableWish::create, std::nullopt);
  EXPECT_EQ(machine.id(), 0);
  EXPECT_FALSE(machine.plain());
}

TEST(CableMachine, founds_a_cable_with_its_first_connection) {
  CableMachine machine;
  EXPECT_EQ(machine.on_established(0, bound_to(7, token_a)), Action::accept);
  EXPECT_EQ(machine.id(), 7);
  EXPECT_FALSE(machine.plain());
  expect_wish(machine, CableWish::join, token_a);
}

TEST(CableMachine, joins_further_connections_by_the_token) {
  CableMachine machine;
  machine.on_established(0, bound_to(7, token_a));
  EXPECT_EQ(machine.on_established(1, bound_to(7, token_a)), Action::accept);
  EXPECT_EQ(machine.id(), 7);
}

TEST(CableMachine, rejects_a_connection_with_the_token_of_another_cable) {
  CableMachine machine = cable_with_token();
  EXPECT_EQ(machine.on_established(2, bound_to(8, token_b)), Action::reject);
  EXPECT_EQ(machine.id(), 7);
  expect_wish(machine, CableWish::join, token_a);
}

TEST(CableMachine, rejects_a_plain_connection_beside_those_with_a_token) {
  CableMachine machine = cable_with_token();
  EXPECT_EQ(machine.on_established(2, plain_peer), Action::reject);
  EXPECT_EQ(machine.on_established(2, without_token), Action::reject);
  expect_wish(machine, CableWish::join, token_a);
}

TEST(CableMachine, keeps_the_cable_when_its_first_connection_goes) {
  CableMachine machine = cable_with_token();
  EXPECT_EQ(machine.on_lost(0), std::nullopt);
  EXPECT_EQ(machine.id(), 7);
  expect_wish(machine, CableWish::join, token_a);
  EXPECT_EQ(machine.on_established(0, bound_to(7, token_a)), Action::accept);
}

TEST(CableMachine, wishes_for_a_new_cable_when_all_connections_are_lost) {
  CableMachine machine = cable_with_token();
  machine.on_lost(1);
  EXPECT_EQ(machine.on_lost(0), std::nullopt);
  EXPECT_EQ(machine.id(), 0);
  expect_wish(machine, CableWish::create, std::nullopt);
  EXPECT_EQ(machine.on_established(1, bound_to(8, token_b)), Action::accept);
  EXPECT_EQ(machine.id(), 8);
}

TEST(CableMachine, is_not_changed_by_the_loss_of_a_rejected_connection) {
  CableMachine machine = cable_with_token();
  machine.on_established(2, bound_to(8, token_b));
  EXPECT_EQ(machine.on_lost(2), std::nullopt);
  EXPECT_EQ(machine.id(), 7);
}

TEST(CableMachine, asks_an_original_listener_for_an_id) {
  CableMachine machine;
  EXPECT_EQ(machine.on_established(0, plain_peer), Action::request_id);
  EXPECT_EQ(machine.id(), 0);
  EXPECT_FALSE(machine.plain());
  EXPECT_EQ(machine.on_id(0, 7), Action::accept);
  EXPECT_EQ(machine.id(), 7);
  EXPECT_TRUE(machine.plain());
}

TEST(CableMachine, asks_a_listener_that_gives_no_token_for_an_id) {
  CableMachine machine;
  EXPECT_EQ(machine.on_established(0, without_token), Action::request_id);
  EXPECT_EQ(machine.on_id(0, 7), Action::accept);
}

TEST(CableMachine, takes_further_plain_connections_as_they_are) {
  CableMachine machine;
  machine.on_established(0, plain_peer);
  machine.on_id(0, 7);
  EXPECT_EQ(machine.on_established(1, plain_peer), Action::accept);
  EXPECT_EQ(machine.on_established(2, plain_peer), Action::accept);
}

TEST(CableMachine, rejects_a_second_plain_connection_until_the_id_arrived) {
  CableMachine machine;
  machine.on_established(0, plain_peer);
  EXPECT_EQ(machine.on_established(1, plain_peer), Action::reject);
  EXPECT_EQ(machine.on_lost(1), std::nullopt);
  EXPECT_EQ(machine.on_id(0, 7), Action::accept);
  EXPECT_EQ(machine.on_established(1, plain_peer), Action::accept);
}

TEST(CableMachine, rejects_a_connection_with_a_token_in_a_plain_cable) {
  CableMachine machine = plain_cable();
  EXPECT_EQ(machine.on_established(3, bound_to(8, token_b)), Action::reject);
  EXPECT_TRUE(machine.plain());
  EXPECT_EQ(machine.id(), 7);
}

TEST(CableMachine, takes_an_id_only_from_the_connection_that_asked) {
  CableMachine machine;
  EXPECT_EQ(machine.on_id(0, 7), Action::none);
  machine.on_established(0, plain_peer);
  EXPECT_EQ(machine.on_id(1, 7), Action::none);
  EXPECT_EQ(machine.id(), 0);
}

TEST(CableMachine, rejects_the_asking_connection_when_the_listener_has_no_id_left) {
  CableMachine machine;
  machine.on_established(0, plain_peer);
  EXPECT_EQ(machine.on_id(0, 0), Action::reject);
  EXPECT_EQ(machine.on_lost(0), std::nullopt);
  EXPECT_EQ(machine.on_established(1, plain_peer), Action::request_id);
}

TEST(CableMachine, lets_another_connection_ask_when_the_asking_one_went_before_the_id_came) {
  CableMachine machine;
  machine.on_established(0, plain_peer);
  EXPECT_EQ(machine.on_lost(0), std::nullopt);
  EXPECT_EQ(machine.on_id(0, 7), Action::none);
  EXPECT_EQ(machine.on_established(1, plain_peer), Action::request_id);
}

TEST(CableMachine, asks_over_another_connection_when_the_one_that_had_asked_is_lost) {
  CableMachine machine = plain_cable();
  EXPECT_EQ(machine.on_lost(0), 1U);
  EXPECT_EQ(machine.on_id(1, 9), Action::accept);
  EXPECT_EQ(machine.id(), 9);
}

TEST(CableMachine, does_not_ask_again_when_another_plain_connection_is_lost) {
  CableMachine machine = plain_cable();
  EXPECT_EQ(machine.on_lost(1), std::nullopt);
  EXPECT_EQ(machine.id(), 7);
}

TEST(CableMachine, asks_over_the_next_connection_when_the_heir_gets_no_id) {
  CableMachine machine = plain_cable();
  EXPECT_EQ(machine.on_lost(0), 1U);
  EXPECT_EQ(machine.on_id(1, 0), Action::reject);
  EXPECT_EQ(machine.on_lost(1), 2U);
}

TEST(CableMachine, starts_anew_when_all_plain_connections_are_lost) {
  CableMachine machine = plain_cable();
  machine.on_lost(0);
  machine.on_lost(1);
  EXPECT_EQ(machine.on_lost(2), std::nullopt);
  EXPECT_EQ(machine.id(), 0);
  EXPECT_FALSE(machine.plain());
  EXPECT_EQ(machine.on_established(2, plain_peer), Action::request_id);
}

TEST(CableMachine, becomes_plain_when_an_original_listener_has_taken_the_place_of_ours) {
  CableMachine machine = cable_with_token();
  machine.on_lost(0);
  machine.on_lost(1);
  EXPECT_EQ(machine.on_established(0, plain_peer), Action::request_id);
  EXPECT_EQ(machine.on_id(0, 3), Action::accept);
  EXPECT_TRUE(machine.plain());
}

TEST(CableMachine, rejects_the_id_of_an_original_listener_when_one_of_ours_was_faster) {
  CableMachine machine;
  machine.on_established(0, plain_peer);
  EXPECT_EQ(machine.on_established(1, bound_to(7, token_a)), Action::accept);
  EXPECT_EQ(machine.on_id(0, 9), Action::reject);
  EXPECT_EQ(machine.id(), 7);
  EXPECT_EQ(machine.on_lost(0), std::nullopt);
  EXPECT_EQ(machine.id(), 7);
}

}  // namespace
}  // namespace ntcpmsg::detail
