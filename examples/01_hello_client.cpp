// Sends one message and one request to 01_hello_server.
//
//     01_hello_client [HOST:PORT]
#include <fmt/core.h>

#include <exception>
#include <ntcpmsg/ntcpmsg.hpp>

int main(int argc, char** argv) {
  try {
    const auto server = ntcpmsg::parse_host_port(argc > 1 ? argv[1] : "127.0.0.1:2500");
    ntcpmsg::SingleConnection connection(server.host, server.port);
    connection.connect(std::chrono::seconds(5));

    // On its way when the call returns; nobody answers.
    connection.async_send(10, ntcpmsg::as_bytes("Hello from the client"));

    // Waits for the reply.
    const ntcpmsg::Bytes reply = connection.sync_send(11, ntcpmsg::as_bytes("How are you?"));
    fmt::print("the server says: {}\n", ntcpmsg::as_text(reply));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
