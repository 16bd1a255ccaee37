#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ntcpmsg/bytes.hpp"

namespace ntcpmsg::detail {

/// Event numbers of inner messages (flag::inner).
namespace inner_event {
/// The original's only one: asks for a processor and a cable id.
inline constexpr std::uint32_t processor_id = 1;
/// Ours: "NTHL".
inline constexpr std::uint32_t hello = 0x4E54484C;
}  // namespace inner_event

/// Request of the original cable handshake: the processors the client may use.
struct ProcessorIdRequest {
  std::uint64_t affinity_mask = 0;
};

/// Its reply. Unlike the frame header these integers are little endian.
struct ProcessorIdReply {
  std::int32_t processor = 0;
  std::uint16_t cable_id = 0;
};

std::array<std::byte, 8> encode(const ProcessorIdRequest& request) noexcept;
std::array<std::byte, 6> encode(const ProcessorIdReply& reply) noexcept;

/// Empty when the payload is too short; further bytes are ignored, as the original does.
std::optional<ProcessorIdRequest> decode_processor_id_request(BytesView payload) noexcept;
std::optional<ProcessorIdReply> decode_processor_id_reply(BytesView payload) noexcept;

/// The processor to name in the reply: the highest one in the mask, since the original client
/// breaks when told one it may not use; 63 for an empty mask, as the original answers.
std::int32_t choose_processor(std::uint64_t affinity_mask) noexcept;

}  // namespace ntcpmsg::detail
