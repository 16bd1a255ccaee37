#include "test_support/command_line.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ntcpmsg/endpoint.hpp>
#include <ntcpmsg/error.hpp>
#include <stdexcept>
#include <system_error>

#include "test_support/exit_code.hpp"

namespace test_support {

std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  app.set_version_flag("--version", app.get_name() + " " TEST_PROGRAMS_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    print_error(app.get_name(), error.what() + std::string(" (see --help)"));
    return exit_usage;
  }
  return std::nullopt;
}

std::string check_not_nan(const std::string& text) {
  double value = 0;
  return CLI::detail::lexical_cast(text, value) && std::isnan(value) ? text + " is not a number"
                                                                     : std::string();
}

void occupy_standard_streams() {
  int descriptor = 0;
  while ((descriptor = ::open("/dev/null", O_RDWR)) >= 0 && descriptor <= STDERR_FILENO) {
  }
  if (descriptor >= 0) ::close(descriptor);
}

void flush_stdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw std::runtime_error(std::string("cannot write stdout: ") +
                           std::generic_category().message(errno));
}

std::string check_host_port(const std::string& text) {
  try {
    ntcpmsg::parse_host_port(text);
  } catch (const ntcpmsg::system_error&) {
    return fmt::format("\"{}\" is not HOST:PORT or [IPv6]:PORT", text);
  }
  return {};
}

void print_error(const std::string& program, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "{}: {}\n", program, message);
}

}  // namespace test_support
