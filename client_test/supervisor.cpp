#include "supervisor.hpp"

#include <algorithm>
#include <chrono>

#include "progress_bar.hpp"

namespace client_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds poll_interval{20};
// A server that hangs must not keep the user waiting.
constexpr std::chrono::seconds patience{2};

bool ended(const std::future<RunResult>& run) {
  return run.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

class Supervisor {
 public:
  Supervisor(const Options& options, RunControl& control)
      : options_(options), control_(control), progress_(!options.quiet) {}

  bool wait(const std::future<RunResult>& run, test_support::SignalWatch& signals) {
    while (!ended(run)) {
      const Clock::duration elapsed = Clock::now() - start_;
      if (!options_.count && elapsed >= options_.seconds) control_.stop();
      if (signals.wait(time_to_next_look(elapsed))) return true;
      progress_.update(fraction(elapsed), control_.progress());
    }
    return false;
  }

 private:
  Clock::duration time_to_next_look(Clock::duration elapsed) const {
    if (options_.count || elapsed >= options_.seconds) return poll_interval;
    const auto left = std::chrono::duration_cast<Clock::duration>(options_.seconds) - elapsed;
    return std::min<Clock::duration>(poll_interval, left);
  }

  double fraction(Clock::duration elapsed) const {
    if (options_.count) {
      return static_cast<double>(control_.progress()) / static_cast<double>(*options_.count);
    }
    return std::chrono::duration<double>(elapsed) / options_.seconds;
  }

  const Options& options_;
  RunControl& control_;
  ProgressBar progress_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

bool supervise(const std::future<RunResult>& run,
               const Options& options,
               RunControl& control,
               ntcpmsg::MessageClient& client,
               test_support::SignalWatch& signals) {
  if (!Supervisor(options, control).wait(run, signals)) return false;
  control.stop();
  if (run.wait_for(patience) != std::future_status::ready) client.disconnect();
  return true;
}

}  // namespace client_test
