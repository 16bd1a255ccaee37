// What a user's first program does, outside of the source tree: a listener, a connection to it, a
// message and a request.
#include <chrono>
#include <future>
#include <iostream>
#include <ntcpmsg/ntcpmsg.hpp>
#include <string>

int main() {
  std::promise<std::string> received;

  ntcpmsg::Listener listener;
  listener.on_received([&](ntcpmsg::Message& message) {
    if (message.wants_reply()) {
      message.reply(message.payload());
    } else {
      received.set_value(std::string(message.text()));
    }
  });
  const auto endpoint = listener.listen(ntcpmsg::parse_endpoint("127.0.0.1:0"));

  ntcpmsg::SingleConnection connection(endpoint);
  connection.connect(std::chrono::seconds(10));
  connection.async_send(10, ntcpmsg::as_bytes("hello"));
  const auto reply =
      connection.sync_send(11, ntcpmsg::as_bytes("question"), std::chrono::seconds(10));

  auto arrived = received.get_future();
  if (arrived.wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
    std::cerr << "the message did not arrive\n";
    return 1;
  }
  const std::string text = arrived.get();
  if (text != "hello" || ntcpmsg::as_text(reply) != "question") {
    std::cerr << "wrong answers: " << text << ", " << ntcpmsg::as_text(reply) << '\n';
    return 1;
  }
  std::cout << "hello arrived and the question was answered\n";
  return 0;
}
