#include "totals.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "test_support/units.hpp"

namespace server_test {
namespace {

class Table {
 public:
  template <typename Value>
  void row(std::string_view name, const Value& value) {
    fmt::format_to(std::back_inserter(text_), "{:<20}{}\n", name, value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string to_table(const Totals& totals) {
  using test_support::with_unit;
  const ntcpmsg::Statistics& all = totals.statistics;
  Table table;
  table.row("seconds", fmt::format("{:.3f}", totals.seconds));
  table.row("cpu seconds", fmt::format("{:.3f}", totals.cpu_seconds));
  table.row("sessions", all.sessions_total);
  table.row("messages received", all.messages_received);
  table.row("messages sent", all.messages_sent);
  table.row("received", with_unit(static_cast<double>(all.bytes_received), "B"));
  table.row("sent", with_unit(static_cast<double>(all.bytes_sent), "B"));
  table.row("reads", all.reads);
  table.row("writes", all.writes);
  table.row("messages unsent", all.messages_unsent);
  table.row("echoes dropped", totals.echo_dropped);
  table.row("pushed", totals.pushed);
  table.row("broadcast", totals.broadcast);
  table.row("sessions cut", totals.drain.sessions);
  table.row("replies owed", totals.drain.replies_owed);
  return table.take();
}

nlohmann::ordered_json to_json(const Totals& totals) {
  const ntcpmsg::Statistics& all = totals.statistics;
  return {
      {"seconds", totals.seconds},
      {"cpu_seconds", totals.cpu_seconds},
      {"sessions_total", all.sessions_total},
      {"messages_received", all.messages_received},
      {"messages_sent", all.messages_sent},
      {"bytes_received", all.bytes_received},
      {"bytes_sent", all.bytes_sent},
      {"reads", all.reads},
      {"writes", all.writes},
      {"messages_unsent", all.messages_unsent},
      {"echo_dropped", totals.echo_dropped},
      {"pushed", totals.pushed},
      {"broadcast", totals.broadcast},
      {"sessions_cut", totals.drain.sessions},
      {"replies_owed", totals.drain.replies_owed},
  };
}

}  // namespace server_test
