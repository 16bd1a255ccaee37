#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

namespace test_support {

/// Adds `--version`, parses, and prints help, version or the error. Returns the exit code when the
/// program is to end now.
std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// For `CLI::Option::check`: the complaint about a text that is not HOST:PORT, or nothing.
std::string check_host_port(const std::string& text);

/// Prints "PROGRAM: MESSAGE" as one line to stderr.
void print_error(const std::string& program, std::string message);

}  // namespace test_support
