#include "test_support/json_file.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace test_support {

JsonFile::JsonFile(std::string path) : path_(std::move(path)) {
  if (path_.empty() || path_ == "-") return;
  errno = 0;
  file_.open(path_);
  if (!file_) fail();
}

void JsonFile::write(const nlohmann::ordered_json& object) {
  if (path_.empty()) return;
  const std::string line = object.dump() + '\n';
  errno = 0;
  if (path_ == "-") {
    const bool written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
    if (!written || std::fflush(stdout) != 0) fail();
    return;
  }
  file_ << line << std::flush;
  if (!file_) fail();
}

void JsonFile::fail() const {
  const std::string reason =
      errno != 0 ? std::generic_category().message(errno) : std::string("unknown error");
  throw std::runtime_error(
      fmt::format("cannot write {}: {}", path_ == "-" ? "stdout" : path_, reason));
}

}  // namespace test_support
