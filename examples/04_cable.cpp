// Several connections as one: faster, and messages with the same key stay in order.
#include <fmt/core.h>

#include <exception>
#include <future>
#include <ntcpmsg/ntcpmsg.hpp>
#include <stdexcept>
#include <string>

namespace {

constexpr int message_count = 1000;

void run() {
  int received = 0;
  bool in_order = true;
  std::promise<void> all_received;
  ntcpmsg::Listener listener;  // its only thread runs the handler
  listener.on_received([&](ntcpmsg::Message& message) {
    if (message.text() != std::to_string(received)) in_order = false;
    if (++received == message_count) all_received.set_value();
  });
  const auto server = listener.listen(ntcpmsg::parse_endpoint("127.0.0.1:0"));

  ntcpmsg::SingleConnectionCable cable(server, 4);
  cable.connect();
  fmt::print("cable {} with {} of {} connections so far\n",
             cable.cable_id(),
             cable.connections(),
             cable.capacity());

  constexpr ntcpmsg::OrderKey customer{4711};
  for (int i = 0; i < message_count; ++i) {
    cable.async_send(1, ntcpmsg::as_bytes(std::to_string(i)), customer);
  }

  if (all_received.get_future().wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
    throw std::runtime_error("not all messages were received");
  }
  fmt::print("{} messages received, {}\n", message_count, in_order ? "in order" : "out of order");
  if (!in_order) throw std::runtime_error("that is wrong");
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
