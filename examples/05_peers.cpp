// Two equal peers: each listens and connects to the other, in whatever order they start.
#include <fmt/core.h>

#include <exception>
#include <ntcpmsg/ntcpmsg.hpp>
#include <string>
#include <utility>

namespace {

ntcpmsg::ClientOptions reconnecting() {
  ntcpmsg::ClientOptions options;
  options.reconnect.enabled = true;
  return options;
}

class Peer {
 public:
  Peer(std::string name, const ntcpmsg::Endpoint& own, const ntcpmsg::Endpoint& other)
      : name_(std::move(name)), connection_(other, reconnecting()) {
    listener_.on_received([this](ntcpmsg::Message& message) {
      fmt::print("{} is asked: {}\n", name_, message.text());
      if (message.wants_reply()) message.reply(ntcpmsg::as_bytes("I am " + name_));
    });
    listener_.listen(own);
    connection_.start();
  }

  void ask() {
    connection_.connect(std::chrono::seconds(10));
    const ntcpmsg::Bytes reply = connection_.sync_send(1, ntcpmsg::as_bytes("Who are you?"));
    fmt::print("{} gets the answer: {}\n", name_, ntcpmsg::as_text(reply));
  }

 private:
  std::string name_;
  ntcpmsg::Listener listener_;
  ntcpmsg::SingleConnection connection_;
};

}  // namespace

int main() {
  try {
    // Two free ports: those the system chose for a listener which is gone again.
    const auto any_port = ntcpmsg::parse_endpoint("127.0.0.1:0");
    const auto addresses = ntcpmsg::Listener().listen({any_port, any_port});
    Peer anna("Anna", addresses[0], addresses[1]);
    Peer bert("Bert", addresses[1], addresses[0]);
    anna.ask();
    bert.ask();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
