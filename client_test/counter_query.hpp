#pragma once

#include <ntcpmsg/message_client.hpp>
#include <optional>

#include "test_support/server_counters.hpp"

namespace client_test {

/// Asks the server for its counters. Nothing when the request failed or the answer has another
/// form; `ec` tells why and is clear in the second case.
std::optional<test_support::ServerCounters> ask_counters(ntcpmsg::MessageClient& client,
                                                         ntcpmsg::error_code& ec);

}  // namespace client_test
