#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/control.hpp"
#include "harness/peer.hpp"

namespace bench {

/// Connects, warms up, measures, and returns what was measured.
nlohmann::ordered_json run_client(Control& control, ClientPeer& peer, const Work& work);

}  // namespace bench
