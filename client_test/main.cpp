#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <future>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <variant>

#include "options.hpp"
#include "report.hpp"
#include "run_control.hpp"
#include "run_mode.hpp"
#include "supervisor.hpp"
#include "test_client.hpp"
#include "test_support/command_line.hpp"
#include "test_support/exit_code.hpp"
#include "test_support/json_file.hpp"
#include "test_support/signal_watch.hpp"

namespace client_test {
namespace {

/// What is wrong with the run, empty when it is complete.
std::string find_error(const RunResult& result, const std::string& failure, bool interrupted) {
  if (interrupted) return fmt::format("interrupted after {} messages", result.messages);
  if (!failure.empty()) return failure;
  if (result.lost != 0) {
    return fmt::format("{} of {} messages are missing", result.lost, result.messages + result.lost);
  }
  if (result.corrupt != 0) {
    return fmt::format("{} of {} messages have wrong contents", result.corrupt, result.messages);
  }
  return result.messages == 0 ? "no message got through" : "";
}

/// Throws what is to be printed as the error.
void run(const Options& options) {
  test_support::SignalWatch signals;
  test_support::JsonFile json(options.json);
  RunControl control;
  TestClient client(options, control);
  client.connect(signals);

  auto running =
      std::async(std::launch::async, [&] { return run_mode(client.messages(), options, control); });
  const bool interrupted = supervise(running, options, control, client.messages(), signals);
  const RunResult result = running.get();

  const std::string error = find_error(result, control.failure(), interrupted);
  if (!options.quiet) fmt::print("{}", to_table(options, result));
  test_support::flush_stdout();
  json.write(to_json(options, result, error));
  if (!error.empty()) throw std::runtime_error(error);
}

}  // namespace
}  // namespace client_test

int main(int argc, char** argv) {
  test_support::occupy_standard_streams();
  try {
    const auto parsed = client_test::parse_options(argc, argv);
    if (const int* code = std::get_if<int>(&parsed)) return *code;
    client_test::run(std::get<client_test::Options>(parsed));
  } catch (const std::exception& error) {
    test_support::print_error("client_test", error.what());
    return test_support::exit_failure;
  }
  return test_support::exit_success;
}
