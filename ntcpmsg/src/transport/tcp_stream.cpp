#include "transport/tcp_stream.hpp"

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <utility>

namespace ntcpmsg::detail {
namespace {

error_code last_socket_error() noexcept {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return boost::asio::error::would_block;
  return {errno, boost::system::system_category()};
}

template <typename SystemCall>
ssize_t retry_when_interrupted(SystemCall call) noexcept {
  ssize_t result = 0;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

}  // namespace

TcpStream::TcpStream(boost::asio::ip::tcp::socket socket) noexcept
    : socket_(std::move(socket)), descriptor_(socket_.native_handle()) {
  error_code ec;
  local_ = socket_.local_endpoint(ec);
  remote_ = socket_.remote_endpoint(ec);
}

std::size_t TcpStream::read_some(std::span<std::byte> into, error_code& ec) noexcept {
  const ssize_t count = retry_when_interrupted(
      [&] { return ::recv(descriptor_, into.data(), into.size(), MSG_DONTWAIT); });
  if (count > 0) {
    ec = {};
    return static_cast<std::size_t>(count);
  }
  ec = count == 0 ? error_code(boost::asio::error::eof) : last_socket_error();
  return 0;
}

std::size_t TcpStream::write_some(BytesView bytes, error_code& ec) noexcept {
  const ssize_t count = retry_when_interrupted(
      [&] { return ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
  if (count >= 0) {
    ec = {};
    return static_cast<std::size_t>(count);
  }
  ec = last_socket_error();
  return 0;
}

void TcpStream::wait_readable(std::shared_ptr<StreamEvents> events) {
  socket_.async_wait(boost::asio::ip::tcp::socket::wait_read,
                     [events = std::move(events)](error_code ec) { events->on_readable(ec); });
}

void TcpStream::wait_writable(std::shared_ptr<StreamEvents> events) {
  socket_.async_wait(boost::asio::ip::tcp::socket::wait_write,
                     [events = std::move(events)](error_code ec) { events->on_writable(ec); });
}

void TcpStream::shutdown_send() noexcept { ::shutdown(descriptor_, SHUT_WR); }

bool TcpStream::all_acknowledged() const noexcept {
  int bytes = 0;
  return ::ioctl(descriptor_, SIOCOUTQ, &bytes) != 0 || bytes == 0;
}

void TcpStream::shutdown() noexcept { ::shutdown(descriptor_, SHUT_RDWR); }

void TcpStream::close() noexcept {
  error_code ignored;
  socket_.close(ignored);
}

error_code apply(const SocketOptions& options, boost::asio::ip::tcp::socket& socket) {
  error_code first;
  const auto note = [&](error_code ec) {
    if (ec && !first) first = ec;
  };
  error_code ec;
  socket.set_option(boost::asio::ip::tcp::no_delay(options.no_delay), ec);
  note(ec);
  if (options.send_buffer_bytes) {
    socket.set_option(boost::asio::socket_base::send_buffer_size(*options.send_buffer_bytes), ec);
    note(ec);
  }
  if (options.receive_buffer_bytes) {
    socket.set_option(boost::asio::socket_base::receive_buffer_size(*options.receive_buffer_bytes),
                      ec);
    note(ec);
  }
  const std::string& algorithm = options.congestion_control;
  if (!algorithm.empty() && ::setsockopt(socket.native_handle(),
                                         IPPROTO_TCP,
                                         TCP_CONGESTION,
                                         algorithm.data(),
                                         static_cast<socklen_t>(algorithm.size())) != 0) {
    note({errno, boost::system::system_category()});
  }
  return first;
}

}  // namespace ntcpmsg::detail
