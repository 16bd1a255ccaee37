#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/streambuf.hpp>
#include <string>

namespace bench {

/// The line of text between client and server process beside the measured connections: one request,
/// one answer.
class Control {
 public:
  /// Takes the only client of `acceptor`.
  explicit Control(boost::asio::ip::tcp::acceptor& acceptor);
  Control(boost::asio::io_context& context, const std::string& host, std::uint16_t port);

  void write_line(std::string line);
  /// Throws when the other side is gone.
  std::string read_line();
  /// Writes the request and returns the answer.
  std::string ask(std::string request);

 private:
  boost::asio::ip::tcp::socket socket_;
  boost::asio::streambuf buffer_;
};

}  // namespace bench
