#include "listen_addresses.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <ntcpmsg/error.hpp>
#include <stdexcept>

namespace server_test {
namespace {

std::vector<ntcpmsg::Endpoint> resolve(const std::string& text) {
  const ntcpmsg::HostPort name = ntcpmsg::parse_host_port(text);
  boost::asio::io_context context;
  boost::asio::ip::tcp::resolver resolver(context);
  ntcpmsg::error_code ec;
  const auto results = resolver.resolve(name.host, std::to_string(name.port), resolver.passive, ec);
  if (ec) throw std::runtime_error(fmt::format("cannot resolve {}: {}", name.host, ec.message()));

  std::vector<ntcpmsg::Endpoint> endpoints;
  for (const auto& result : results) {
    if (std::find(endpoints.begin(), endpoints.end(), result.endpoint()) == endpoints.end()) {
      endpoints.push_back(result.endpoint());
    }
  }
  return endpoints;
}

bool means_no_such_address(const ntcpmsg::error_code& ec) {
  return ec == boost::system::errc::address_not_available ||
         ec == boost::system::errc::address_family_not_supported;
}

}  // namespace

std::vector<ntcpmsg::Endpoint> listen_on(ntcpmsg::Listener& listener, const std::string& text) {
  std::vector<ntcpmsg::Endpoint> listening;
  ntcpmsg::error_code ec;
  for (ntcpmsg::Endpoint endpoint : resolve(text)) {
    if (endpoint.port() == 0 && !listening.empty()) endpoint.port(listening.front().port());
    const ntcpmsg::Endpoint real = listener.listen(endpoint, ec);
    if (!ec) {
      listening.push_back(real);
      continue;
    }
    const std::string message =
        fmt::format("cannot listen on {}: {}", ntcpmsg::to_string(endpoint), ec.message());
    if (!means_no_such_address(ec)) throw std::runtime_error(message);
    spdlog::warn(message);
  }
  if (listening.empty()) {
    throw std::runtime_error(fmt::format("cannot listen on {}: {}", text, ec.message()));
  }
  return listening;
}

}  // namespace server_test
