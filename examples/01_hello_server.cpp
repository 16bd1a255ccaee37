// Answers requests and prints what arrives, until Enter is pressed.
//
//     01_hello_server [HOST:PORT]
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <ntcpmsg/ntcpmsg.hpp>

int main(int argc, char** argv) {
  try {
    ntcpmsg::Listener listener;

    listener.on_accepted([](const ntcpmsg::SessionHandle& session) {
      fmt::print("{} connected\n", ntcpmsg::to_string(session.remote_endpoint()));
    });
    listener.on_received([](ntcpmsg::Message& message) {
      fmt::print("event {}: {}\n", message.event(), message.text());
      if (message.wants_reply()) message.reply(ntcpmsg::as_bytes("Hello from the server"));
    });
    listener.on_disconnected([](const ntcpmsg::DisconnectedEvent& event) {
      fmt::print(
          "{} left: {}\n", ntcpmsg::to_string(event.remote_endpoint), event.reason.message());
    });

    const auto address = ntcpmsg::parse_endpoint(argc > 1 ? argv[1] : "127.0.0.1:2500");
    fmt::print("listening on {}\n", ntcpmsg::to_string(listener.listen(address)));
    std::fflush(stdout);

    std::getchar();
    listener.drain(std::chrono::seconds(5));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
