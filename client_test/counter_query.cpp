#include "counter_query.hpp"

#include <nlohmann/json.hpp>

#include "test_support/test_events.hpp"

namespace client_test {

std::optional<test_support::ServerCounters> ask_counters(ntcpmsg::MessageClient& client,
                                                         ntcpmsg::error_code& ec) {
  constexpr std::chrono::seconds limit{30};
  const ntcpmsg::Bytes reply =
      client.sync_send(test_support::events::counters, ntcpmsg::BytesView(), limit, ec);
  if (ec) return std::nullopt;
  try {
    return nlohmann::json::parse(ntcpmsg::as_text(reply)).get<test_support::ServerCounters>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace client_test
