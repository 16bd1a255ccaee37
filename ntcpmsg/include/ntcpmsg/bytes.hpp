#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ntcpmsg {

/// Owned payload.
using Bytes = std::vector<std::byte>;
/// Borrowed payload.
using BytesView = std::span<const std::byte>;

/// The bytes of a text, without copying; valid as long as the text is.
inline BytesView as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The text in some bytes, without copying; valid as long as the bytes are.
inline std::string_view as_text(BytesView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace ntcpmsg
