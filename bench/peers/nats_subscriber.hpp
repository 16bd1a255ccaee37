#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "peers/raw_socket.hpp"

namespace bench {

/// A subscriber that speaks the text protocol of NATS on a plain socket: the C client needs three
/// threads for a connection, which a thousand of them do not get on with.
class NatsSubscriber {
 public:
  /// Subscribes to `subject`, and publishes an empty message to `ready_subject` then.
  NatsSubscriber(RawSocket socket,
                 const std::string& subject,
                 const std::string& ready_subject,
                 std::size_t max_size)
      : socket_(std::move(socket)), buffer_(std::max(min_buffer, 2 * max_size + 256)) {
    send("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB " + subject + " 1\r\nPUB " +
         ready_subject + " 0\r\n\r\n");
  }

  const RawSocket& socket() const noexcept { return socket_; }

  /// One read; returns the messages that are complete now.
  std::size_t receive() {
    const std::size_t count =
        socket_.receive(std::as_writable_bytes(std::span(buffer_)).subspan(have_));
    if (count == 0) throw std::runtime_error("nats-server closed the connection");
    have_ += count;
    std::string_view in(buffer_.data(), have_);
    std::size_t messages = 0;
    while (const std::size_t used = take(in, messages)) in.remove_prefix(used);
    have_ = in.size();
    std::memmove(buffer_.data(), in.data(), in.size());
    return messages;
  }

 private:
  static constexpr std::size_t min_buffer = std::size_t{64} * 1024;

  /// The bytes of the first operation, 0 if it is not complete.
  std::size_t take(std::string_view in, std::size_t& messages) const {
    const std::size_t end = in.find("\r\n");
    if (end == std::string_view::npos) return 0;
    const std::string_view line = in.substr(0, end);
    if (line.starts_with("MSG ")) {
      // MSG <subject> <subscription> <size>
      std::size_t size = 0;
      const std::string_view digits = line.substr(line.rfind(' ') + 1);
      std::from_chars(digits.data(), digits.data() + digits.size(), size);
      const std::size_t whole = end + 2 + size + 2;
      if (in.size() < whole) return 0;
      ++messages;
      return whole;
    }
    if (line == "PING") send("PONG\r\n");
    if (line.starts_with("-ERR")) throw std::runtime_error("nats: " + std::string(line));
    return end + 2;
  }

  void send(const std::string& text) const { socket_.send_all(std::as_bytes(std::span(text))); }

  RawSocket socket_;
  std::vector<char> buffer_;
  std::size_t have_ = 0;
};

}  // namespace bench
