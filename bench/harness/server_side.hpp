#pragma once

#include "harness/control.hpp"
#include "harness/peer.hpp"

namespace bench {

/// Answers what the client process asks until it is gone.
///
///     clients          -> number of clients ready
///     begin            -> "ok"; usage is counted from here
///     await N          -> messages received, once N are or none came for long
///     publish W        -> "ok"; publishes, at most W rounds ahead of the credit
///     credit N         -> no answer; N rounds are delivered to all
///     pause            -> rounds published; publishes no more
///     end              -> the usage since `begin`, as JSON
void serve(Control& control, ServerPeer& peer, const Work& work);

}  // namespace bench
