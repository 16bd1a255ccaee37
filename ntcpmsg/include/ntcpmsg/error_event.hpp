#pragma once

#include <cstdint>
#include <string>

#include "ntcpmsg/endpoint.hpp"
#include "ntcpmsg/error.hpp"

namespace ntcpmsg {

/// What the error event carries: a failure that belongs to no call of the user's.
struct ErrorEvent {
  error_code code;
  /// The peer concerned; a default-constructed endpoint when there is none.
  Endpoint remote_endpoint;
  /// Details in words, possibly empty: the text of an exception, the offending bytes.
  std::string text;
  /// How many messages or peers are concerned, 0 where counting makes no sense.
  std::uint64_t count = 0;
};

}  // namespace ntcpmsg
