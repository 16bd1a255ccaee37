#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <ntcpmsg/bytes.hpp>
#include <optional>

namespace test_support {

/// Payload of a fixed size whose first eight bytes hold a number (in the byte order of the machine,
/// if they fit) and whose others hold a pattern.
class NumberedPayload {
 public:
  explicit NumberedPayload(std::size_t size)
      : bytes_(size), slot_(size >= number_size ? bytes_.data() : spare_.data()) {
    for (std::size_t i = 0; i < size; ++i) bytes_[i] = static_cast<std::byte>(i * 31 + 7);
  }
  NumberedPayload(const NumberedPayload&) = delete;
  NumberedPayload& operator=(const NumberedPayload&) = delete;

  void set_number(std::uint64_t number) noexcept { std::memcpy(slot_, &number, number_size); }

  ntcpmsg::BytesView view() const noexcept { return bytes_; }

  /// True when `other` holds the same bytes.
  bool equals(ntcpmsg::BytesView other) const noexcept {
    if (other.size() != bytes_.size()) return false;
    return bytes_.empty() || std::memcmp(other.data(), bytes_.data(), bytes_.size()) == 0;
  }

  /// The number in a received payload, nothing when the payload is too short for one.
  static std::optional<std::uint64_t> number_in(ntcpmsg::BytesView payload) noexcept {
    if (payload.size() < number_size) return std::nullopt;
    std::uint64_t number = 0;
    std::memcpy(&number, payload.data(), number_size);
    return number;
  }

 private:
  static constexpr std::size_t number_size = sizeof(std::uint64_t);

  ntcpmsg::Bytes bytes_;
  // Where the number goes when the payload is too short, so that setting it needs no branch.
  std::array<std::byte, number_size> spare_{};
  std::byte* slot_;
};

}  // namespace test_support
