#pragma once

#include <string>

namespace bench {

/// From now on every TCP socket of this process begins with this congestion control, also those of
/// libraries that have no option for it; accepted ones have that of their listener. Empty: the
/// system's. To be called before the library under test has threads.
void set_default_congestion(const std::string& name);

}  // namespace bench
