#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "peers/raw_frame.hpp"

namespace bench {

/// A blocking TCP socket. Functions throw `std::system_error`.
class RawSocket {
 public:
  RawSocket() = default;
  explicit RawSocket(int descriptor) noexcept : descriptor_(descriptor) {}
  RawSocket(RawSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RawSocket& operator=(RawSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~RawSocket();

  /// Listens on a port the system chooses.
  static RawSocket listening(const std::string& host, const std::string& congestion);
  static RawSocket connected(const std::string& host,
                             std::uint16_t port,
                             const std::string& congestion);

  RawSocket accept() const;
  std::uint16_t port() const;
  int descriptor() const noexcept { return descriptor_; }

  void send_all(std::span<const std::byte> bytes) const;
  /// Waits for bytes; 0 at the end of the stream.
  std::size_t receive(std::span<std::byte> into) const;

 private:
  int descriptor_ = -1;
};

/// Reads frames from a socket and parses them where they lie.
class RawReader {
 public:
  explicit RawReader(std::size_t buffer_size = std::size_t{256} * 1024)
      : size_(buffer_size), buffer_(std::make_unique<std::byte[]>(buffer_size)) {}

  /// One read, then `visit(frame)` for each whole frame; false at the end of the stream.
  template <typename Visitor>
  bool read(const RawSocket& socket, Visitor&& visit) {
    const std::size_t count = socket.receive({buffer_.get() + have_, size_ - have_});
    if (count == 0) return false;
    have_ += count;
    const std::size_t used =
        for_each_raw_frame({buffer_.get(), have_}, std::forward<Visitor>(visit));
    have_ -= used;
    std::memmove(buffer_.get(), buffer_.get() + used, have_);
    return true;
  }

 private:
  std::size_t size_;
  std::size_t have_ = 0;
  std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace bench
