#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/client_side.hpp"
#include "harness/control.hpp"
#include "harness/peer.hpp"
#include "harness/server_side.hpp"
#include "test_support/command_line.hpp"
#include "test_support/exit_code.hpp"

namespace bench {
namespace {

using boost::asio::ip::tcp;

const std::map<std::string, Pattern> patterns{{"one-way", Pattern::one_way},
                                              {"echo-blocking", Pattern::echo_blocking},
                                              {"echo-window", Pattern::echo_window},
                                              {"fan-out", Pattern::fan_out},
                                              {"beside-bulk", Pattern::beside_bulk}};

struct CommandLine {
  Work work;
  std::string pattern = "one-way";
  double seconds = 0.5;
  double warm_up = 0.1;
  std::uint16_t control_port = 0;
};

void add_options(CLI::App& app, CommandLine& line) {
  Work& work = line.work;
  const auto positive = CLI::Range(std::size_t{1}, std::size_t{16} * 1024 * 1024 - 1);
  app.add_option("--pattern", line.pattern, "what is measured")
      ->check(CLI::IsMember(patterns))
      ->capture_default_str();
  app.add_option("--size", work.size, "payload bytes")->check(positive)->capture_default_str();
  app.add_option("--threads", work.threads, "client threads")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--connections", work.connections, "client connections")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--links", work.links, "connections bound as a cable, 0: single connection")
      ->check(CLI::Range(std::size_t{0}, std::size_t{64}))
      ->capture_default_str();
  app.add_option("--window", work.window, "messages in flight")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--seconds", line.seconds, "time measured")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  app.add_option("--warm-up", line.warm_up, "time before, not measured")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--congestion", work.congestion, "congestion control, '': the system's")
      ->capture_default_str();
  app.add_option("--host", work.host, "address of the server")->capture_default_str();
}

void run_server(const PeerFactory& peer, const CommandLine& line) {
  const auto server = peer.server();
  const std::uint16_t port = server->listen(line.work);
  boost::asio::io_context context;
  tcp::acceptor acceptor(context, {boost::asio::ip::make_address(line.work.host), 0});
  std::cout << port << ' ' << acceptor.local_endpoint().port() << std::endl;
  Control control(acceptor);
  try {
    serve(control, *server, line.work);
  } catch (const boost::system::system_error&) {
    // The client is gone: the work is done. Nothing here is worth an orderly end.
    std::_Exit(test_support::exit_success);
  }
}

void run_client_process(const PeerFactory& peer, const CommandLine& line) {
  boost::asio::io_context context;
  Control control(context, line.work.host, line.control_port);
  const auto client = peer.client();
  const auto result = run_client(control, *client, line.work);
  std::cout << result.dump() << std::endl;
  std::_Exit(test_support::exit_success);
}

}  // namespace

void ServerPeer::publish(std::span<const std::byte>) {
  throw std::runtime_error("this peer does not do fan-out");
}

std::uint64_t ClientPeer::send_until(const Stop&, std::size_t) {
  throw std::runtime_error("this peer does not send one way");
}

void ClientPeer::round_trip(std::span<const std::byte>, std::size_t) {
  throw std::runtime_error("this peer does not wait for echoes");
}

std::uint64_t ClientPeer::echo_until(const Stop&, LatencyHistogram&) {
  throw std::runtime_error("this peer has no window of echoes");
}

std::vector<std::byte> make_payload(std::size_t size) {
  std::vector<std::byte> payload(size);
  for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<std::byte>(i % 256);
  return payload;
}

int bench_main(int argc, const char* const* argv, const PeerFactory& peer) try {
  std::signal(SIGPIPE, SIG_IGN);
  CommandLine line;
  CLI::App app("One side of a measurement of " + peer.name + "; scripts/bench starts both.");
  app.require_subcommand(1);
  app.fallthrough();
  add_options(app, line);
  auto* const server = app.add_subcommand("server", "prints its ports and serves one client");
  auto* const client = app.add_subcommand("client", "measures and prints the result as JSON");
  client->add_option("--port", line.work.port, "port of the server")->required();
  client->add_option("--control-port", line.control_port, "control port of the server")->required();
  if (const auto code = test_support::parse_command_line(app, argc, argv)) return *code;
  line.work.pattern = patterns.at(line.pattern);
  line.work.seconds = std::chrono::duration<double>(line.seconds);
  line.work.warm_up = std::chrono::duration<double>(line.warm_up);
  if (server->parsed()) {
    run_server(peer, line);
  } else {
    run_client_process(peer, line);
  }
  return test_support::exit_success;
} catch (const std::exception& e) {
  test_support::print_error(peer.name, e.what());
  return test_support::exit_failure;
}

}  // namespace bench
