#pragma once

#include <future>
#include <ntcpmsg/message_client.hpp>

#include "options.hpp"
#include "run_control.hpp"
#include "run_result.hpp"
#include "test_support/signal_watch.hpp"

namespace client_test {

/// Waits for the run to end, shows its progress, and stops it when its time is over or a signal
/// comes. Returns true in the latter case.
bool supervise(const std::future<RunResult>& run,
               const Options& options,
               RunControl& control,
               ntcpmsg::MessageClient& client,
               test_support::SignalWatch& signals);

}  // namespace client_test
