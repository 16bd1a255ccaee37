#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ntcpmsg/options.hpp>
#include <string>

#include "test_support/command_line.hpp"
#include "test_support/exit_code.hpp"

namespace client_test {
namespace {

constexpr std::size_t max_window = 4096;
constexpr std::size_t max_connections = 64;

Mode parse_mode(const std::string& text) {
  for (const Mode mode : {Mode::async, Mode::sync, Mode::echo}) {
    if (text == to_string(mode)) return mode;
  }
  return Mode::push;
}

// What CLI11 cannot put into the options itself.
struct RawOptions {
  std::string mode = "async";
  std::uint64_t count = 0;
  double seconds = 5;
  double timeout = 10;
};

void add_run_options(CLI::App& app, Options& options, RawOptions& raw) {
  app.add_option("--mode",
                 raw.mode,
                 "async: send as fast as possible; sync: requests that wait for their replies;\n"
                 "echo: a window of requests in flight; push: the server sends")
      ->check(CLI::IsMember({"async", "sync", "echo", "push"}))
      ->capture_default_str();
  app.add_option("--size", options.size, "Bytes of a payload")
      ->type_name("BYTES")
      ->check(CLI::Range(std::size_t{0}, ntcpmsg::max_payload_size))
      ->capture_default_str();
  auto* seconds = app.add_option("--seconds", raw.seconds, "How long to run")
                      ->type_name("SECONDS")
                      ->check(CLI::Range(0.001, 86'400.0))
                      ->check(test_support::check_not_nan)
                      ->capture_default_str();
  app.add_option("--count", raw.count, "Messages in all, instead of --seconds")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 50))
      ->excludes(seconds);
  app.add_option("--threads", options.threads, "Sending threads of async and sync")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--window", options.window, "Requests of echo in flight on each connection")
      ->check(CLI::Range(std::size_t{1}, max_window))
      ->capture_default_str();
}

void add_connection_options(CLI::App& app, Options& options, RawOptions& raw) {
  app.add_option("--connect", options.server, "The server: HOST:PORT or [IPv6]:PORT")
      ->type_name("HOST:PORT")
      ->check(test_support::check_host_port)
      ->capture_default_str();
  auto* single = app.add_flag("--single", options.single, "Use one connection, no cable");
  app.add_option("--cable", options.cable, "Connections of the cable")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, max_connections))
      ->excludes(single)
      ->capture_default_str();
  app.add_option("--io-threads", options.io_threads, "Threads that read and write")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--timeout", raw.timeout, "Longest wait for the connection")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 86'400.0))
      ->check(test_support::check_not_nan)
      ->capture_default_str();
}

}  // namespace

const char* to_string(Mode mode) noexcept {
  switch (mode) {
    case Mode::async: return "async";
    case Mode::sync: return "sync";
    case Mode::echo: return "echo";
    case Mode::push: return "push";
  }
  return "?";
}

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  Options options;
  RawOptions raw;
  CLI::App app("Measures what goes through between it and server_test.", "client_test");
  add_connection_options(app, options, raw);
  add_run_options(app, options, raw);
  app.add_option("--json", options.json, "Write the result as JSON to a file, - for stdout")
      ->type_name("FILE");
  app.add_flag("--quiet", options.quiet, "No progress, no table");
  if (const auto code = test_support::parse_command_line(app, argc, argv)) return *code;

  const std::size_t max_requests = ntcpmsg::ClientOptions().max_requests;
  if (options.window * options.connections() > max_requests) {
    test_support::print_error(
        app.get_name(),
        "--window: more than " + std::to_string(max_requests) + " requests over all connections");
    return test_support::exit_usage;
  }

  options.mode = parse_mode(raw.mode);
  if (raw.count != 0) options.count = raw.count;
  options.seconds = std::chrono::duration<double>(raw.seconds);
  options.timeout =
      std::chrono::milliseconds(static_cast<std::int64_t>(std::max(1.0, raw.timeout * 1000)));
  return options;
}

}  // namespace client_test
