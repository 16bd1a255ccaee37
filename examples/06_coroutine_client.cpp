// A client as a coroutine of Boost.Asio.
#include <fmt/core.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <exception>
#include <ntcpmsg/ntcpmsg.hpp>
#include <string>

namespace {

namespace asio = boost::asio;

asio::awaitable<void> talk(ntcpmsg::SingleConnection& connection) {
  constexpr std::chrono::seconds limit{5};
  co_await connection.async_connect(limit, asio::use_awaitable);
  fmt::print("connected\n");
  for (int i = 1; i <= 3; ++i) {
    const std::string question = "question " + std::to_string(i);
    // Throws ntcpmsg::system_error when it fails.
    const ntcpmsg::Bytes reply = co_await connection.async_request(
        1, ntcpmsg::as_bytes(question), limit, asio::use_awaitable);
    fmt::print("{}\n", ntcpmsg::as_text(reply));
  }
}

void run() {
  ntcpmsg::Listener listener;
  listener.on_received([](ntcpmsg::Message& message) {
    if (message.wants_reply()) {
      message.reply(ntcpmsg::as_bytes("answer to " + std::string(message.text())));
    }
  });
  const auto server = listener.listen(ntcpmsg::parse_endpoint("127.0.0.1:0"));

  ntcpmsg::SingleConnection connection(server);
  asio::io_context context;
  auto done = asio::co_spawn(context, talk(connection), asio::use_future);
  context.run();
  done.get();
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
