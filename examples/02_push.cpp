// The server pushes messages to its clients, to one of them and to all.
#include <fmt/core.h>

#include <exception>
#include <future>
#include <ntcpmsg/ntcpmsg.hpp>

namespace {

constexpr std::uint32_t subscribe = 1;
constexpr std::uint32_t welcome = 2;
constexpr std::uint32_t news = 3;

void run() {
  ntcpmsg::Listener listener;
  listener.on_received([](ntcpmsg::Message& message) {
    // A session handle may be kept, and used from any thread.
    const ntcpmsg::SessionHandle session = message.session();
    if (message.event() == subscribe) session.push(welcome, ntcpmsg::as_bytes("Welcome!"));
  });
  const auto server = listener.listen(ntcpmsg::parse_endpoint("127.0.0.1:0"));

  std::promise<void> got_welcome;
  std::promise<void> got_news;
  ntcpmsg::SingleConnection connection(server);
  connection.on_received([&](ntcpmsg::Message& message) {
    fmt::print("pushed, event {}: {}\n", message.event(), message.text());
    if (message.event() == welcome) got_welcome.set_value();
    if (message.event() == news) got_news.set_value();
  });
  connection.connect();
  connection.async_send(subscribe, {});
  got_welcome.get_future().get();

  const std::size_t clients = listener.broadcast(news, ntcpmsg::as_bytes("It works."));
  fmt::print("broadcast to {} client\n", clients);
  got_news.get_future().get();
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
