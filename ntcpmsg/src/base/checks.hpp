#pragma once

#include "ntcpmsg/error.hpp"

namespace ntcpmsg::detail {

/// Makes the throwing form of an operation out of its `error_code` form.
inline void throw_on_error(const error_code& ec) {
  if (ec) throw system_error(ec);
}

/// Throws `Errc::invalid_argument` unless an argument is as it must be.
inline void require(bool condition, const char* what) {
  if (!condition) throw system_error(Errc::invalid_argument, what);
}

}  // namespace ntcpmsg::detail
