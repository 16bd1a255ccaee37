#pragma once

#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace test_support {

/// Where the result goes as one JSON object: a file, stdout ("-") or nowhere (empty).
class JsonFile {
 public:
  /// Opens the file, so that a run is not in vain because its result cannot be written. Throws
  /// `std::runtime_error` with a message for the user.
  explicit JsonFile(std::string path);

  /// Writes the object as one line. Throws as the constructor does.
  void write(const nlohmann::ordered_json& object);

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::ofstream file_;
};

}  // namespace test_support
