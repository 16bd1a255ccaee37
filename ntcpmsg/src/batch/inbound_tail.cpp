#include "batch/inbound_tail.hpp"

#include <algorithm>
#include <cstring>

namespace ntcpmsg::detail {

std::span<std::byte> InboundTail::prepare(std::span<std::byte> shared) {
  const std::size_t have = bytes_.size();
  if (have <= most_copied && needed_ <= shared.size()) {
    shared_ = shared;
    if (have != 0) std::memcpy(shared.data(), bytes_.view().data(), have);
    return shared.subspan(have);
  }
  shared_ = {};
  const std::size_t missing = needed_ > have ? needed_ - have : least_growth;
  // To ask for a little more than is there would double the memory long before it is used.
  const std::size_t there = bytes_.room();
  const std::size_t wanted = there >= least_read ? there : std::max(have, least_growth);
  const std::size_t room = std::min(missing, wanted);
  return {bytes_.prepare(room), room};
}

BytesView InboundTail::commit(std::size_t count) noexcept {
  if (!shared_.empty()) return shared_.first(bytes_.size() + count);
  bytes_.commit(count);
  return bytes_.view();
}

void InboundTail::keep(BytesView rest, std::size_t needed) {
  needed_ = needed;
  if (!shared_.empty()) {
    bytes_.clear();
    bytes_.append(rest);
    shared_ = {};
  } else {
    bytes_.consume(bytes_.size() - rest.size());
  }
  if (bytes_.empty()) bytes_.release();
}

}  // namespace ntcpmsg::detail
