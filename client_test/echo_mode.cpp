#include "echo_run.hpp"
#include "run_mode.hpp"

namespace client_test {

RunResult run_echo(const RunContext& context) { return EchoRun(context).run(); }

}  // namespace client_test
