#pragma once

#include <cstddef>
#include <span>

#include "base/byte_buffer.hpp"

namespace ntcpmsg::detail {

/// What a connection received and could not process yet. Reads go into a buffer shared by all
/// connections of a thread, so that an idle one owns none; only the rest of a read is kept here.
///
///     space = prepare(shared) -> read n bytes into it -> all = commit(n) -> process all ->
///     keep(unprocessed end of all, size of the incomplete frame at its start)
///
/// Memory grows with the bytes that arrived, not with what a header announces.
class InboundTail {
 public:
  /// Where to read next: behind a copy of the rest in the shared buffer, or, for a large frame,
  /// behind the rest itself.
  std::span<std::byte> prepare(std::span<std::byte> shared);
  /// The rest and the `count` bytes read behind it, in one piece.
  BytesView commit(std::size_t count) noexcept;
  /// Keeps `rest`, which is the end of what `commit` or `pending` returned. `needed`: size of the
  /// frame it begins, 0 when not known.
  void keep(BytesView rest, std::size_t needed);

  /// The bytes kept.
  BytesView pending() const noexcept { return bytes_.view(); }
  bool empty() const noexcept { return bytes_.empty(); }
  /// Bytes of memory held: at most twice what arrived of the frame, and 128 KiB.
  std::size_t capacity() const noexcept { return bytes_.capacity(); }
  void release() noexcept { bytes_.release(); }

 private:
  // Copying more than this per read would make a large frame that trickles in quadratic work.
  static constexpr std::size_t most_copied = 16 * 1024;
  static constexpr std::size_t least_growth = 64 * 1024;
  // Room worth a read of its own before the memory grows.
  static constexpr std::size_t least_read = 16 * 1024;

  ByteBuffer bytes_;
  std::size_t needed_ = 0;
  std::span<std::byte> shared_;
};

}  // namespace ntcpmsg::detail
