#pragma once

#include <ntcpmsg/endpoint.hpp>
#include <ntcpmsg/listener.hpp>
#include <string>
#include <vector>

namespace server_test {

/// Listens on every address of "HOST:PORT", on the same port, and returns where. An address of a
/// name that this machine does not have is left out with a warning. Throws `std::runtime_error`
/// with a message for the user.
std::vector<ntcpmsg::Endpoint> listen_on(ntcpmsg::Listener& listener, const std::string& text);

}  // namespace server_test
