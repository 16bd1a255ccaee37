#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ntcpmsg::detail {

template <typename Word>
inline void copy_both_ends(std::byte* to, const std::byte* from, std::size_t count) noexcept {
  Word first{};
  Word last{};
  std::memcpy(&first, from, sizeof(Word));
  std::memcpy(&last, from + count - sizeof(Word), sizeof(Word));
  std::memcpy(to, &first, sizeof(Word));
  std::memcpy(to + count - sizeof(Word), &last, sizeof(Word));
}

/// As memcpy, without its call for the payloads of small messages: up to 16 bytes are two words
/// that may overlap.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t count) noexcept {
  if (count > 16) {
    std::memcpy(to, from, count);
  } else if (count >= 8) {
    copy_both_ends<std::uint64_t>(to, from, count);
  } else if (count >= 4) {
    copy_both_ends<std::uint32_t>(to, from, count);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
  }
}

}  // namespace ntcpmsg::detail
