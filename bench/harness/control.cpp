#include "harness/control.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <istream>

namespace bench {

using boost::asio::ip::tcp;

Control::Control(tcp::acceptor& acceptor) : socket_(acceptor.accept()) {
  socket_.set_option(tcp::no_delay(true));
}

Control::Control(boost::asio::io_context& context, const std::string& host, std::uint16_t port)
    : socket_(context) {
  socket_.connect({boost::asio::ip::make_address(host), port});
  socket_.set_option(tcp::no_delay(true));
}

void Control::write_line(std::string line) {
  line += '\n';
  boost::asio::write(socket_, boost::asio::buffer(line));
}

std::string Control::read_line() {
  boost::asio::read_until(socket_, buffer_, '\n');
  std::istream stream(&buffer_);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string Control::ask(std::string request) {
  write_line(std::move(request));
  return read_line();
}

}  // namespace bench
