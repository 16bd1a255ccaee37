#include "client_key.hpp"

#include <string_view>

namespace server_test {

std::size_t ClientKeyHash::operator()(const ClientKey& key) const {
  if (key.cable_id != 0) return std::hash<std::uint16_t>()(key.cable_id);
  return std::hash<ntcpmsg::Endpoint>()(key.endpoint);
}

}  // namespace server_test
