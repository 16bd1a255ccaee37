// A client that is started before its server, and finds it again after it was gone.
#include <fmt/core.h>

#include <exception>
#include <memory>
#include <ntcpmsg/ntcpmsg.hpp>
#include <semaphore>
#include <string_view>

namespace {

std::unique_ptr<ntcpmsg::Listener> start_server(const ntcpmsg::Endpoint& address) {
  auto listener = std::make_unique<ntcpmsg::Listener>();
  listener->on_received([](ntcpmsg::Message& message) {
    if (message.wants_reply()) message.reply(message.payload());
  });
  listener->listen(address);
  return listener;
}

void say(ntcpmsg::SingleConnection& connection, std::string_view text) {
  connection.connect(std::chrono::seconds(10));  // waits until automatic reconnect succeeded
  const ntcpmsg::Bytes reply = connection.sync_send(1, ntcpmsg::as_bytes(text));
  fmt::print("the server answers: {}\n", ntcpmsg::as_text(reply));
}

void run() {
  // A port that is free: one that the system chose for a listener which is gone again.
  const auto address = ntcpmsg::Listener().listen(ntcpmsg::parse_endpoint("127.0.0.1:0"));

  std::counting_semaphore<> disconnected(0);
  ntcpmsg::ClientOptions options;
  options.reconnect.enabled = true;
  ntcpmsg::SingleConnection connection(address, options);
  connection.on_connected([] { fmt::print("connected\n"); });
  connection.on_disconnected([&disconnected](ntcpmsg::error_code reason) {
    fmt::print("disconnected: {}\n", reason.message());
    disconnected.release();
  });
  connection.start();
  auto server = start_server(address);
  say(connection, "first");
  server.reset();
  disconnected.acquire();
  server = start_server(address);
  say(connection, "second");
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
