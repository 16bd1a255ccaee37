#include "ntcpmsg/error.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace ntcpmsg {
namespace {

using testing::HasSubstr;

constexpr int last_value = static_cast<int>(Errc::invalid_argument);

TEST(ErrorCategory, is_named_after_the_library) {
  EXPECT_STREQ(error_category().name(), "ntcpmsg");
}

TEST(ErrorCategory, is_one_object) { EXPECT_EQ(&error_category(), &error_category()); }

TEST(ErrorCategory, has_a_text_of_its_own_for_every_value) {
  std::set<std::string> texts{error_category().message(last_value + 1)};
  for (int value = 1; value <= last_value; ++value) {
    const std::string text = error_category().message(value);
    EXPECT_FALSE(text.empty()) << value;
    EXPECT_TRUE(texts.insert(text).second) << value << ": " << text;
  }
}

TEST(ErrorCategory, says_so_when_it_does_not_know_a_value) {
  for (const int value : {-1, last_value + 1, 1'000'000}) {
    EXPECT_EQ(error_category().message(value), "unknown error") << value;
  }
}

TEST(ErrorCode, is_made_of_an_errc_without_a_cast) {
  const error_code code = Errc::timed_out;
  EXPECT_EQ(code.category(), error_category());
  EXPECT_EQ(code.value(), static_cast<int>(Errc::timed_out));
  EXPECT_TRUE(code.failed());
}

TEST(ErrorCode, of_every_errc_is_a_failure) {
  for (int value = 1; value <= last_value; ++value) {
    EXPECT_TRUE(error_code(static_cast<Errc>(value)).failed()) << value;
  }
}

TEST(ErrorCode, differs_from_the_systems_with_the_same_number) {
  const error_code ours = Errc::not_connected;
  EXPECT_NE(ours, error_code(ours.value(), boost::system::system_category()));
}

TEST(SystemError, says_what_failed_and_why) {
  const system_error error(Errc::closed, "while sending");
  EXPECT_EQ(error.code(), Errc::closed);
  EXPECT_THAT(error.what(), HasSubstr("while sending"));
  EXPECT_THAT(error.what(), HasSubstr(error_category().message(static_cast<int>(Errc::closed))));
}

}  // namespace
}  // namespace ntcpmsg
