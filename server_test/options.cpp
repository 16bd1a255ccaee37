#include "options.hpp"

#include <CLI/CLI.hpp>

#include "test_support/command_line.hpp"

namespace server_test {

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  Options options;
  std::int64_t push_interval_ms = 0;
  double stats_seconds = 0;
  double run_seconds = 0;

  CLI::App app("Answers, counts and pushes the messages of client_test.", "server_test");
  app.add_option("--listen", options.listen, "Where to listen, repeatable: HOST:PORT, [IPv6]:PORT")
      ->type_name("HOST:PORT")
      ->check(test_support::check_host_port)
      ->expected(1)
      ->take_all()
      ->capture_default_str();
  app.add_option("--threads", options.threads, "I/O threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--echo", options.echo, "Send every asynchronous message back as a push");
  auto* interval =
      app.add_option("--push-interval", push_interval_ms, "Broadcast a text every so many ms")
          ->type_name("MS")
          ->check(CLI::Range(std::int64_t{1}, std::int64_t{86'400'000}));
  app.add_option("--push-text", options.push_text, "The text to broadcast")
      ->type_name("TEXT")
      ->needs(interval)
      ->capture_default_str();
  app.add_option("--stats", stats_seconds, "Print what went through every so many seconds")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 86'400.0))
      ->check(test_support::check_not_nan);
  app.add_option("--json", options.json, "Write the totals as JSON to a file, - for stdout")
      ->type_name("FILE");
  app.add_option("--run-for", run_seconds, "Stop after so many seconds")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 1e8))
      ->check(test_support::check_not_nan);
  if (const auto code = test_support::parse_command_line(app, argc, argv)) return *code;

  options.push_interval = std::chrono::milliseconds(push_interval_ms);
  options.stats = std::chrono::duration<double>(stats_seconds);
  options.run_for = std::chrono::duration<double>(run_seconds);
  return options;
}

}  // namespace server_test
