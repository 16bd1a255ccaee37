#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/endpoint.hpp"
#include "ntcpmsg/error.hpp"

namespace ntcpmsg::detail {

/// Whom a stream tells that it is ready. Called on the stream's I/O thread, never inside the call
/// that asked.
class StreamEvents {
 public:
  virtual void on_readable(error_code ec) = 0;
  virtual void on_writable(error_code ec) = 0;

 protected:
  ~StreamEvents() = default;
};

/// A connected, ordered, reliable flow of bytes. Nothing here waits. Everything is called on the
/// stream's I/O thread, except where it says otherwise.
class Stream {
 public:
  virtual ~Stream() = default;

  /// Reads what is there. 0 with an error: `would_block` (nothing there), `eof` (the peer sends no
  /// more), else the stream is broken.
  virtual std::size_t read_some(std::span<std::byte> into, error_code& ec) noexcept = 0;

  /// Writes as much as the stream takes now; `would_block` when that is nothing. Any thread, but
  /// one at a time, and not after `close`.
  virtual std::size_t write_some(BytesView bytes, error_code& ec) noexcept = 0;

  /// Completes once, by `events`, which it keeps alive; with an error when the stream is closed.
  virtual void wait_readable(std::shared_ptr<StreamEvents> events) = 0;
  virtual void wait_writable(std::shared_ptr<StreamEvents> events) = 0;

  /// Tells the peer that no more comes; reading goes on.
  virtual void shutdown_send() noexcept = 0;
  /// True when the peer's system has confirmed everything, `shutdown_send` included.
  virtual bool all_acknowledged() const noexcept = 0;
  /// Makes every read and write fail from now on, without freeing the descriptor.
  virtual void shutdown() noexcept = 0;
  /// Ends waits and frees the descriptor.
  virtual void close() noexcept = 0;

  /// Stay what they were after `close`. Any thread.
  virtual const Endpoint& local_endpoint() const noexcept = 0;
  virtual const Endpoint& remote_endpoint() const noexcept = 0;
};

}  // namespace ntcpmsg::detail
