#include "ntcpmsg/endpoint.hpp"

#include <gmock/gmock.h>

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>

#include "ntcpmsg/error.hpp"

namespace ntcpmsg {
namespace {

using boost::asio::ip::make_address;

/// True when `call` fails with `Errc::invalid_argument` and names the text it was given.
template <typename Call>
bool is_rejected(Call call, std::string_view text) {
  try {
    call(text);
    return false;
  } catch (const system_error& error) {
    return error.code() == Errc::invalid_argument &&
           std::string_view(error.what()).find(text) != std::string_view::npos;
  }
}

TEST(HostPort, splits_a_name_and_a_port) {
  const HostPort parts = parse_host_port("example.org:2500");
  EXPECT_EQ(parts.host, "example.org");
  EXPECT_EQ(parts.port, 2500U);
}

TEST(HostPort, takes_the_brackets_off_an_ipv6_address) {
  const HostPort parts = parse_host_port("[fe80::1]:80");
  EXPECT_EQ(parts.host, "fe80::1");
  EXPECT_EQ(parts.port, 80U);
}

TEST(HostPort, means_all_ipv4_addresses_by_an_empty_host) {
  const HostPort parts = parse_host_port(":2500");
  EXPECT_EQ(parts.host, "0.0.0.0");
  EXPECT_EQ(parts.port, 2500U);
}

TEST(HostPort, accepts_the_lowest_and_the_highest_port) {
  EXPECT_EQ(parse_host_port("h:0").port, 0U);
  EXPECT_EQ(parse_host_port("h:65535").port, 65535U);
}

TEST(HostPort, rejects_ports_that_are_no_number_from_0_to_65535) {
  for (const char* text : {"h:",
                           "h:65536",
                           "h:99999999999999999999",
                           "h:-1",
                           "h:+1",
                           "h: 1",
                           "h:1 ",
                           "h:0x50",
                           "h:http",
                           "h:80x"}) {
    EXPECT_TRUE(is_rejected(parse_host_port, text)) << text;
  }
}

TEST(HostPort, rejects_a_text_without_a_colon) {
  for (const char* text : {"", "host", "2500", "[]"}) {
    EXPECT_TRUE(is_rejected(parse_host_port, text)) << text;
  }
}

TEST(HostPort, rejects_an_ipv6_address_without_brackets) {
  for (const char* text : {"::1:2500", "fe80::1:80", "a:b:80"}) {
    EXPECT_TRUE(is_rejected(parse_host_port, text)) << text;
  }
}

TEST(HostPort, rejects_brackets_that_do_not_match) {
  for (const char* text : {"[]:80", "[:80", "[::1:80", "[::1]", "[::1]x:80", "[::1]80", "]:"}) {
    EXPECT_TRUE(is_rejected(parse_host_port, text)) << text;
  }
}

TEST(HostPort, rejects_brackets_around_what_is_no_ipv6_address) {
  for (const char* text : {"[localhost]:80", "[127.0.0.1]:80"}) {
    EXPECT_TRUE(is_rejected(parse_host_port, text)) << text;
  }
}

TEST(EndpointText, is_parsed_as_an_ipv4_address_with_port) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:2500"), Endpoint(make_address("127.0.0.1"), 2500));
}

TEST(EndpointText, is_parsed_as_an_ipv6_address_with_port) {
  EXPECT_EQ(parse_endpoint("[::1]:2500"), Endpoint(make_address("::1"), 2500));
}

TEST(EndpointText, without_a_host_is_parsed_as_all_ipv4_addresses) {
  EXPECT_EQ(parse_endpoint(":2500"), Endpoint(make_address("0.0.0.0"), 2500));
}

TEST(EndpointText, is_rejected_when_the_host_is_no_literal_address) {
  for (const char* text : {"localhost:80", "256.0.0.1:80", "1.2.3:80", "[::g]:80", " 1.2.3.4:80"}) {
    EXPECT_TRUE(is_rejected(parse_endpoint, text)) << text;
  }
}

TEST(EndpointText, is_rejected_when_the_port_is_wrong) {
  EXPECT_TRUE(is_rejected(parse_endpoint, "127.0.0.1:65536"));
}

TEST(EndpointText, of_ipv4_has_no_brackets) {
  EXPECT_EQ(to_string(Endpoint(make_address("10.0.0.1"), 7)), "10.0.0.1:7");
}

TEST(EndpointText, of_ipv6_has_brackets) {
  EXPECT_EQ(to_string(Endpoint(make_address("2001:db8::1"), 65535)), "[2001:db8::1]:65535");
}

TEST(EndpointText, is_parsed_to_the_endpoint_it_was_made_of) {
  for (const char* text :
       {"0.0.0.0:0", "255.255.255.255:65535", "[::]:1", "[2001:db8::a:1]:2500"}) {
    EXPECT_EQ(to_string(parse_endpoint(text)), text);
  }
}

}  // namespace
}  // namespace ntcpmsg
