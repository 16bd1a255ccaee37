#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "options.hpp"
#include "run_result.hpp"

namespace client_test {

/// As lines of text.
std::string to_table(const Options& options, const RunResult& result);

/// `error` is empty after a complete run.
nlohmann::ordered_json to_json(const Options& options,
                               const RunResult& result,
                               const std::string& error);

}  // namespace client_test
