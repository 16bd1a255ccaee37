#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/endpoint.hpp"
#include "waiting.hpp"
#include "wire/frame.hpp"
#include "wire/hello.hpp"

namespace ntcpmsg::test {

/// A frame with its payload, as it came.
struct WireFrame {
  detail::FrameHeader header;
  Bytes payload;

  std::string text() const { return std::string(as_text(payload)); }
};

/// A descriptor that is closed in the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const noexcept { return number_; }
  void close() noexcept;

 private:
  int number_;
};

/// One end of a TCP connection that says and expects exactly what a test tells it, byte by byte.
/// Everything that does not happen within `patience` throws `std::runtime_error`.
class ScriptedPeer {
 public:
  /// A socket that is not connected yet.
  explicit ScriptedPeer(bool v6 = false);
  explicit ScriptedPeer(Descriptor socket) noexcept : socket_(std::move(socket)) {}
  static ScriptedPeer connected_to(const Endpoint& endpoint);

  void connect(const Endpoint& endpoint);
  void send(BytesView bytes);
  void send_hex(std::string_view hex);
  void send_frame(detail::FrameHeader header, BytesView payload = {});
  /// Sends as much of it as the kernel takes until nothing moves for `quiet`; returns how much.
  std::size_t send_until_blocked(BytesView bytes, std::chrono::milliseconds quiet = 200ms);

  Bytes receive(std::size_t count);
  WireFrame receive_frame();
  /// Whole frames until the end of the stream; an incomplete last one is dropped.
  std::vector<WireFrame> receive_frames_until_end();
  /// Fails the test unless exactly these bytes come next.
  void expect_hex(std::string_view hex);
  /// Fails the test unless the connection ends here, by an end of stream or a reset.
  void expect_end();
  /// True when nothing comes for so long.
  bool silent_for(std::chrono::milliseconds duration);

  /// Takes the client's hello and answers as an original listener does: with nothing.
  void answer_hello_as_original();
  /// Takes the client's hello and agrees to everything; returns what it was.
  detail::Hello answer_hello(detail::Hello answer = {});

  void half_close();
  void reset();
  void close() { socket_.close(); }
  Endpoint local_endpoint() const;

 private:
  /// Waits until the socket is ready for `events` of poll.
  bool ready(short events, std::chrono::milliseconds timeout) const;
  /// Up to `size` bytes; 0 at the end of the stream.
  std::size_t receive_some(std::byte* into, std::size_t size);

  Descriptor socket_;
};

/// Accepts connections for scripts.
class ScriptedListener {
 public:
  explicit ScriptedListener(int backlog = 64, bool v6 = false);

  const Endpoint& endpoint() const noexcept { return local_; }
  ScriptedPeer accept();
  /// True when somebody connects within this time.
  bool asked_within(std::chrono::milliseconds timeout) const;

 private:
  Descriptor socket_;
  Endpoint local_;
};

/// Connecting to it neither succeeds nor fails: its backlog is full.
class FullListener {
 public:
  FullListener();
  const Endpoint& endpoint() const noexcept { return listener_.endpoint(); }

 private:
  ScriptedListener listener_{0};
  std::vector<Descriptor> fillers_;
};

/// Connecting to it is refused. A listener may take it over, as nobody else will.
class ReservedPort {
 public:
  ReservedPort();
  const Endpoint& endpoint() const noexcept { return local_; }

 private:
  Descriptor socket_;
  Endpoint local_;
};

inline Endpoint any_port() { return {boost::asio::ip::address_v4::loopback(), 0}; }
inline Endpoint any_port_v6() { return {boost::asio::ip::address_v6::loopback(), 0}; }

}  // namespace ntcpmsg::test
