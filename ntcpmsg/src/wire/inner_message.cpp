#include "wire/inner_message.hpp"

#include <bit>

#include "base/byte_order.hpp"

namespace ntcpmsg::detail {

std::array<std::byte, 8> encode(const ProcessorIdRequest& request) noexcept {
  std::array<std::byte, 8> bytes{};
  store_little(bytes.data(), request.affinity_mask);
  return bytes;
}

std::array<std::byte, 6> encode(const ProcessorIdReply& reply) noexcept {
  std::array<std::byte, 6> bytes{};
  store_little(bytes.data(), static_cast<std::uint32_t>(reply.processor));
  store_little(bytes.data() + 4, reply.cable_id);
  return bytes;
}

std::optional<ProcessorIdRequest> decode_processor_id_request(BytesView payload) noexcept {
  if (payload.size() < 8) return std::nullopt;
  return ProcessorIdRequest{load_little<std::uint64_t>(payload.data())};
}

std::optional<ProcessorIdReply> decode_processor_id_reply(BytesView payload) noexcept {
  if (payload.size() < 6) return std::nullopt;
  return ProcessorIdReply{static_cast<std::int32_t>(load_little<std::uint32_t>(payload.data())),
                          load_little<std::uint16_t>(payload.data() + 4)};
}

std::int32_t choose_processor(std::uint64_t affinity_mask) noexcept {
  return affinity_mask == 0 ? 63 : 63 - std::countl_zero(affinity_mask);
}

}  // namespace ntcpmsg::detail
