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

/// For `CLI::Option::check` beside a range, which lets "nan" pass.
std::string check_not_nan(const std::string& text);

/// Opens what is missing of stdin, stdout and stderr as /dev/null, so that no file gets its number.
void occupy_standard_streams();

/// Throws when stdout took not all that was printed.
void flush_stdout();

/// Prints "PROGRAM: MESSAGE" as one line to stderr.
void print_error(const std::string& program, std::string message);

}  // namespace test_support
