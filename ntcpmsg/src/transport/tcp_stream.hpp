#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "ntcpmsg/options.hpp"
#include "transport/stream.hpp"

namespace ntcpmsg::detail {

/// A stream over a connected TCP socket.
class TcpStream final : public Stream {
 public:
  explicit TcpStream(boost::asio::ip::tcp::socket socket) noexcept;

  std::size_t read_some(std::span<std::byte> into, error_code& ec) noexcept override;
  std::size_t write_some(BytesView bytes, error_code& ec) noexcept override;
  void wait_readable(std::shared_ptr<StreamEvents> events) override;
  void wait_writable(std::shared_ptr<StreamEvents> events) override;
  void shutdown_send() noexcept override;
  bool all_acknowledged() const noexcept override;
  void shutdown() noexcept override;
  void close() noexcept override;
  const Endpoint& local_endpoint() const noexcept override { return local_; }
  const Endpoint& remote_endpoint() const noexcept override { return remote_; }

 private:
  boost::asio::ip::tcp::socket socket_;
  // Asio's socket object must not be used by two threads; writers use the descriptor itself.
  int descriptor_;
  Endpoint local_;
  Endpoint remote_;
};

/// Applies the settings; the first that the system refuses is returned, the others are applied.
error_code apply(const SocketOptions& options, boost::asio::ip::tcp::socket& socket);

}  // namespace ntcpmsg::detail
