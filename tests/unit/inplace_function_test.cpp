#include "ntcpmsg/inplace_function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace ntcpmsg::detail {
namespace {

using Function = InplaceFunction<void(int)>;

TEST(InplaceFunction, is_empty_until_it_gets_a_callable) {
  Function function;
  EXPECT_FALSE(function);
  function = [](int) {};
  EXPECT_TRUE(function);
}

TEST(InplaceFunction, calls_what_it_holds_with_the_arguments) {
  int seen = 0;
  Function function = [&seen](int value) { seen = value; };
  function(7);
  EXPECT_EQ(seen, 7);
}

TEST(InplaceFunction, makes_its_callable_in_place_without_moving_it) {
  struct Unmovable {
    explicit Unmovable(int& counter, int factor) : sum(counter), times(factor) {}
    Unmovable(const Unmovable&) = delete;
    void operator()(int value) const { sum += times * value; }
    int& sum;
    int times;
  };
  int sum = 0;
  Function function(std::in_place_type<Unmovable>, sum, 3);
  function(7);
  EXPECT_EQ(sum, 21);
}

TEST(InplaceFunction, takes_callables_that_can_only_be_moved) {
  int seen = 0;
  Function function = [&seen, owned = std::make_unique<int>(5)](int value) {
    seen = *owned + value;
  };
  Function moved = std::move(function);
  moved(1);
  EXPECT_EQ(seen, 6);
}

TEST(InplaceFunction, is_empty_after_it_was_moved_from) {
  Function function = [](int) {};
  const Function moved = std::move(function);
  EXPECT_TRUE(moved);
  EXPECT_FALSE(function);  // NOLINT(bugprone-use-after-move): what is tested
}

/// Lives as long as somebody holds a copy of the token.
struct Counted {
  std::shared_ptr<int> token = std::make_shared<int>(0);
  long holders() const { return token.use_count() - 1; }
};

template <std::size_t extra_bytes>
void destroys_its_callable_exactly_once() {
  const Counted counted;
  {
    Function function = [token = counted.token, filling = std::array<char, extra_bytes>{}](int) {
      static_cast<void>(filling);
    };
    EXPECT_EQ(counted.holders(), 1);
    Function moved = std::move(function);
    EXPECT_EQ(counted.holders(), 1);
    moved = [](int) {};
    EXPECT_EQ(counted.holders(), 0);
    moved = [token = counted.token](int) {};
    moved.reset();
    EXPECT_EQ(counted.holders(), 0);
    moved = [token = counted.token](int) {};
  }
  EXPECT_EQ(counted.holders(), 0);
}

TEST(InplaceFunction, destroys_a_small_callable_exactly_once) {
  destroys_its_callable_exactly_once<1>();
}

TEST(InplaceFunction, destroys_a_large_callable_exactly_once) {
  destroys_its_callable_exactly_once<500>();
}

TEST(InplaceFunction, holds_a_callable_whose_move_may_throw) {
  struct Throwing {
    Throwing() = default;
    Throwing(Throwing&&) noexcept(false) {}
    void operator()(int) const {}
  };
  Function function = Throwing();
  Function moved = std::move(function);
  EXPECT_NO_THROW(moved(1));
}

TEST(InplaceFunction, lets_the_callables_exceptions_through) {
  Function function = [](int) { throw std::string("from inside"); };
  EXPECT_THROW(function(1), std::string);
}

TEST(InplaceFunction, survives_being_replaced_while_another_is_moved_to_itself) {
  int seen = 0;
  Function function = [&seen](int value) { seen = value; };
  Function& same = function;
  function = std::move(same);
  function(3);
  EXPECT_EQ(seen, 3);
}

}  // namespace
}  // namespace ntcpmsg::detail
