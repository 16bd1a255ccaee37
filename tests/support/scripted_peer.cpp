#include "scripted_peer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "frames.hpp"
#include "hex.hpp"
#include "wire/inner_message.hpp"

namespace ntcpmsg::test {
namespace {

constexpr std::size_t read_size = 64 * 1024;

void check(bool ok, const char* what) {
  if (!ok) throw std::system_error(errno, std::generic_category(), what);
}

Descriptor open_socket(bool v6) {
  Descriptor socket(::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  check(socket.get() >= 0, "socket");
  return socket;
}

Endpoint name_of(int socket) {
  Endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  check(::getsockname(socket, endpoint.data(), &size) == 0, "getsockname");
  endpoint.resize(size);
  return endpoint;
}

Endpoint bind_to_loopback(int socket, bool v6) {
  const int on = 1;
  check(::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0, "setsockopt");
  const Endpoint endpoint = v6 ? any_port_v6() : any_port();
  check(::bind(socket, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0, "bind");
  return name_of(socket);
}

bool poll_one(int descriptor, short events, std::chrono::milliseconds timeout) {
  pollfd entry{descriptor, events, 0};
  return ::poll(&entry, 1, static_cast<int>(timeout.count())) > 0;
}

}  // namespace

void Descriptor::close() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

ScriptedPeer::ScriptedPeer(bool v6) : socket_(open_socket(v6)) {}

ScriptedPeer ScriptedPeer::connected_to(const Endpoint& endpoint) {
  ScriptedPeer peer(endpoint.address().is_v6());
  peer.connect(endpoint);
  return peer;
}

void ScriptedPeer::connect(const Endpoint& endpoint) {
  const auto size = static_cast<socklen_t>(endpoint.size());
  check(::connect(socket_.get(), endpoint.data(), size) == 0, "connect");
}

bool ScriptedPeer::ready(short events, std::chrono::milliseconds timeout) const {
  return poll_one(socket_.get(), events, timeout);
}

void ScriptedPeer::send(BytesView bytes) {
  while (!bytes.empty()) {
    if (!ready(POLLOUT, patience)) throw std::runtime_error("the peer does not read");
    const ssize_t count =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    check(count >= 0, "send");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void ScriptedPeer::send_hex(std::string_view hex) { send(from_hex(hex)); }

void ScriptedPeer::send_frame(detail::FrameHeader header, BytesView payload) {
  header.length = static_cast<std::uint32_t>(payload.size());
  send(one_frame(header, payload));
}

std::size_t ScriptedPeer::send_until_blocked(BytesView bytes, std::chrono::milliseconds quiet) {
  std::size_t sent = 0;
  while (sent < bytes.size() && ready(POLLOUT, quiet)) {
    const ssize_t count = ::send(
        socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    check(count >= 0, "send");
    sent += static_cast<std::size_t>(count);
  }
  return sent;
}

std::size_t ScriptedPeer::receive_some(std::byte* into, std::size_t size) {
  if (!ready(POLLIN, patience)) throw std::runtime_error("the peer sends nothing");
  const ssize_t count = ::recv(socket_.get(), into, size, 0);
  check(count >= 0, "recv");
  return static_cast<std::size_t>(count);
}

Bytes ScriptedPeer::receive(std::size_t count) {
  Bytes bytes(count);
  std::size_t have = 0;
  while (have < count) {
    const std::size_t more = receive_some(bytes.data() + have, count - have);
    if (more == 0) throw std::runtime_error("the peer has closed the connection");
    have += more;
  }
  return bytes;
}

WireFrame ScriptedPeer::receive_frame() {
  const Bytes header = receive(detail::frame_header_size);
  WireFrame frame{detail::decode_header(header.data()), {}};
  frame.payload = receive(frame.header.length);
  return frame;
}

std::vector<WireFrame> ScriptedPeer::receive_frames_until_end() {
  Bytes all;
  for (std::size_t count = 1; count != 0;) {
    const std::size_t have = all.size();
    all.resize(have + read_size);
    count = receive_some(all.data() + have, read_size);
    all.resize(have + count);
  }
  std::vector<WireFrame> frames;
  BytesView rest = all;
  while (rest.size() >= detail::frame_header_size) {
    const auto header = detail::decode_header(rest.data());
    const std::size_t size = detail::frame_header_size + header.length;
    if (rest.size() < size) break;
    const BytesView payload = rest.subspan(detail::frame_header_size, header.length);
    frames.push_back({header, Bytes(payload.begin(), payload.end())});
    rest = rest.subspan(size);
  }
  return frames;
}

void ScriptedPeer::expect_hex(std::string_view hex) {
  const Bytes expected = from_hex(hex);
  EXPECT_EQ(to_hex(receive(expected.size())), to_hex(expected));
}

void ScriptedPeer::expect_end() {
  ASSERT_TRUE(ready(POLLIN, patience)) << "the connection goes on";
  std::byte byte{};
  const ssize_t count = ::recv(socket_.get(), &byte, 1, 0);
  EXPECT_TRUE(count == 0 || (count < 0 && errno == ECONNRESET)) << "more bytes came";
}

bool ScriptedPeer::silent_for(std::chrono::milliseconds duration) {
  return !ready(POLLIN, duration);
}

void ScriptedPeer::answer_hello_as_original() {
  const WireFrame hello = receive_frame();
  EXPECT_EQ(hello.header.event, detail::inner_event::hello);
  send_frame({.flags = detail::flag::sync,
              .event = detail::inner_event::hello,
              .channel = hello.header.channel});
}

detail::Hello ScriptedPeer::answer_hello(detail::Hello answer) {
  const WireFrame frame = receive_frame();
  EXPECT_EQ(frame.header.event, detail::inner_event::hello);
  answer.features = detail::feature::all;
  send_frame({.flags = detail::flag::sync,
              .event = detail::inner_event::hello,
              .channel = frame.header.channel},
             detail::encode(answer));
  return detail::decode_hello(frame.payload).value_or(detail::Hello{.version = 0});
}

void ScriptedPeer::half_close() { ::shutdown(socket_.get(), SHUT_WR); }

void ScriptedPeer::reset() {
  const linger at_once{1, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

Endpoint ScriptedPeer::local_endpoint() const { return name_of(socket_.get()); }

ScriptedListener::ScriptedListener(int backlog, bool v6)
    : socket_(open_socket(v6)), local_(bind_to_loopback(socket_.get(), v6)) {
  check(::listen(socket_.get(), backlog) == 0, "listen");
}

bool ScriptedListener::asked_within(std::chrono::milliseconds timeout) const {
  return poll_one(socket_.get(), POLLIN, timeout);
}

ScriptedPeer ScriptedListener::accept() {
  if (!asked_within(patience)) throw std::runtime_error("nobody connects");
  Descriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  check(socket.get() >= 0, "accept");
  return ScriptedPeer(std::move(socket));
}

FullListener::FullListener() {
  for (int i = 0; i < 3; ++i) {
    fillers_.push_back(open_socket(false));
    const int socket = fillers_.back().get();
    check(::fcntl(socket, F_SETFL, O_NONBLOCK) == 0, "fcntl");
    const Endpoint& to = endpoint();
    const int result = ::connect(socket, to.data(), static_cast<socklen_t>(to.size()));
    check(result == 0 || errno == EINPROGRESS, "connect");
  }
}

ReservedPort::ReservedPort()
    : socket_(open_socket(false)), local_(bind_to_loopback(socket_.get(), false)) {}

}  // namespace ntcpmsg::test
