#include "wire/hello.hpp"

#include <algorithm>

#include "base/byte_order.hpp"

namespace ntcpmsg::detail {
namespace {

enum class Entry : std::uint16_t {
  features = 1,
  max_message_size = 2,
  cable_wish = 3,
  cable_id = 4,
  cable_token = 5,
};

constexpr std::size_t entry_header_size = 4;

std::byte* append_entry(Bytes& to, Entry type, std::size_t length) {
  const std::size_t at = to.size();
  to.resize(at + entry_header_size + length);
  store_big(to.data() + at, static_cast<std::uint16_t>(type));
  store_big(to.data() + at + 2, static_cast<std::uint16_t>(length));
  return to.data() + at + entry_header_size;
}

void read_entry(Entry type, BytesView value, Hello& hello) noexcept {
  switch (type) {
    case Entry::features:
      if (value.size() == 4) hello.features = load_big<std::uint32_t>(value.data());
      return;
    case Entry::max_message_size:
      if (value.size() == 4) hello.max_message_size = load_big<std::uint32_t>(value.data());
      return;
    case Entry::cable_wish:
      if (value.size() == 1 && value[0] <= std::byte{2}) {
        hello.cable_wish = static_cast<CableWish>(value[0]);
      }
      return;
    case Entry::cable_id:
      if (value.size() == 2) hello.cable_id = load_big<std::uint16_t>(value.data());
      return;
    case Entry::cable_token:
      if (value.size() == CableToken{}.size()) {
        std::copy(value.begin(), value.end(), hello.cable_token.emplace().begin());
      }
      return;
  }
}

}  // namespace

Bytes encode(const Hello& hello) {
  Bytes bytes{std::byte{hello.version}};
  store_big(append_entry(bytes, Entry::features, 4), hello.features);
  if (hello.max_message_size != 0) {
    store_big(append_entry(bytes, Entry::max_message_size, 4), hello.max_message_size);
  }
  if (hello.cable_wish != CableWish::none) {
    *append_entry(bytes, Entry::cable_wish, 1) = static_cast<std::byte>(hello.cable_wish);
  }
  if (hello.cable_id != 0) store_big(append_entry(bytes, Entry::cable_id, 2), hello.cable_id);
  if (hello.cable_token) {
    std::ranges::copy(*hello.cable_token,
                      append_entry(bytes, Entry::cable_token, hello.cable_token->size()));
  }
  return bytes;
}

std::optional<Hello> decode_hello(BytesView payload) noexcept {
  if (payload.empty()) return std::nullopt;
  Hello hello;
  hello.version = std::to_integer<std::uint8_t>(payload[0]);
  payload = payload.subspan(1);
  while (!payload.empty()) {
    if (payload.size() < entry_header_size) return std::nullopt;
    const auto type = load_big<std::uint16_t>(payload.data());
    const auto length = load_big<std::uint16_t>(payload.data() + 2);
    payload = payload.subspan(entry_header_size);
    if (payload.size() < length) return std::nullopt;
    read_entry(static_cast<Entry>(type), payload.first(length), hello);
    payload = payload.subspan(length);
  }
  return hello;
}

}  // namespace ntcpmsg::detail
