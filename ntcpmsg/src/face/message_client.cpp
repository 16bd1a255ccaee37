#include "ntcpmsg/message_client.hpp"

#include <utility>

#include "base/checks.hpp"
#include "face/client_core.hpp"
#include "ntcpmsg/single_connection.hpp"
#include "ntcpmsg/single_connection_cable.hpp"

namespace ntcpmsg {
namespace {

detail::ClientLink::Target target_of(const Endpoint& endpoint) {
  return {endpoint.address().to_string(), endpoint.port()};
}

// Apart, so that the short way needs no stack.
[[gnu::noinline]] void send_the_long_way(detail::ClientCore& core,
                                         std::uint32_t event,
                                         BytesView payload) {
  detail::throw_on_error(core.send(event, payload));
}

}  // namespace

const char* to_string(ConnectionState state) noexcept {
  switch (state) {
    case ConnectionState::disconnected: return "disconnected";
    case ConnectionState::resolving: return "resolving";
    case ConnectionState::connecting: return "connecting";
    case ConnectionState::negotiating: return "negotiating";
    case ConnectionState::connected: return "connected";
    case ConnectionState::waiting_to_retry: return "waiting to retry";
    case ConnectionState::closed: return "closed";
  }
  return "unknown";
}

MessageClient::MessageClient(std::shared_ptr<detail::ClientCore> core) : core_(std::move(core)) {}

MessageClient::~MessageClient() { core_->shut_down(); }

void MessageClient::on_connected(std::function<void()> handler) {
  core_->connected.set(std::move(handler));
}

void MessageClient::on_received(std::function<void(Message&)> handler) {
  core_->received.set(std::move(handler));
}

void MessageClient::on_disconnected(std::function<void(error_code)> handler) {
  core_->disconnected.set(std::move(handler));
}

void MessageClient::on_error(std::function<void(const ErrorEvent&)> handler) {
  core_->error.set(std::move(handler));
}

void MessageClient::on_writable(std::function<void()> handler) {
  core_->writable.set(std::move(handler));
}

void MessageClient::connect(Milliseconds timeout) {
  detail::throw_on_error(core_->connect(timeout));
}

void MessageClient::connect(Milliseconds timeout, error_code& ec) { ec = core_->connect(timeout); }

void MessageClient::start() { core_->start(); }

void MessageClient::start_connect(Milliseconds timeout, Handler handler) {
  core_->async_connect(timeout, std::move(handler));
}

void MessageClient::disconnect() { core_->disconnect(); }

std::size_t MessageClient::close(Milliseconds timeout) { return core_->close(timeout); }

void MessageClient::async_send(std::uint32_t event, BytesView payload) {
  if (core_->send_in_burst(event, payload)) return;
  send_the_long_way(*core_, event, payload);
}

void MessageClient::async_send(std::uint32_t event, BytesView payload, error_code& ec) {
  ec.clear();
  if (core_->send_in_burst(event, payload)) return;
  ec = core_->send(event, payload);
}

Bytes MessageClient::sync_send(std::uint32_t event, BytesView payload, Milliseconds timeout) {
  Bytes reply;
  sync_send(event, payload, reply, timeout);
  return reply;
}

Bytes MessageClient::sync_send(std::uint32_t event,
                               BytesView payload,
                               Milliseconds timeout,
                               error_code& ec) {
  Bytes reply;
  ec = core_->request(event, payload, timeout, reply);
  return reply;
}

void MessageClient::sync_send(std::uint32_t event,
                              BytesView payload,
                              Bytes& reply,
                              Milliseconds timeout) {
  const error_code ec = core_->request(event, payload, timeout, reply);
  if (ec) detail::throw_request_error(ec, reply);
}

void MessageClient::sync_send(std::uint32_t event,
                              BytesView payload,
                              Bytes& reply,
                              Milliseconds timeout,
                              error_code& ec) {
  ec = core_->request(event, payload, timeout, reply);
}

void MessageClient::start_request(std::uint32_t event,
                                  BytesView payload,
                                  Milliseconds timeout,
                                  ReplyHandler handler) {
  core_->async_request(event, payload, timeout, std::move(handler));
}

void MessageClient::start_request(std::uint32_t event,
                                  BytesView payload,
                                  Milliseconds timeout,
                                  detail::ReplyCompletion&& completion) {
  core_->start_request(event, payload, timeout, std::move(completion));
}

void MessageClient::start_wait_writable(Handler handler) {
  core_->async_wait_writable(std::move(handler));
}

void MessageClient::flush(Milliseconds timeout) { detail::throw_on_error(core_->flush(timeout)); }

void MessageClient::flush(Milliseconds timeout, error_code& ec) { ec = core_->flush(timeout); }

ConnectionState MessageClient::state() const { return core_->state(); }

error_code MessageClient::last_error() const { return core_->last_error(); }

Endpoint MessageClient::remote_endpoint() const { return core_->remote_endpoint(); }

Endpoint MessageClient::local_endpoint() const { return core_->local_endpoint(); }

Statistics MessageClient::statistics() const { return core_->statistics(); }

SingleConnection::SingleConnection(std::string host, std::uint16_t port, ClientOptions options)
    : MessageClient(
          detail::make_client_core({std::move(host), port}, std::move(options), 1, false)) {}

SingleConnection::SingleConnection(const Endpoint& endpoint, ClientOptions options)
    : MessageClient(detail::make_client_core(target_of(endpoint), std::move(options), 1, false)) {}

SingleConnectionCable::SingleConnectionCable(std::string host,
                                             std::uint16_t port,
                                             std::size_t connections,
                                             ClientOptions options)
    : MessageClient(detail::make_client_core({std::move(host), port},
                                             std::move(options),
                                             connections,
                                             true)) {}

SingleConnectionCable::SingleConnectionCable(const Endpoint& endpoint,
                                             std::size_t connections,
                                             ClientOptions options)
    : MessageClient(
          detail::make_client_core(target_of(endpoint), std::move(options), connections, true)) {}

void SingleConnectionCable::async_send(std::uint32_t event, BytesView payload, OrderKey key) {
  detail::throw_on_error(core().send(event, payload, key));
}

void SingleConnectionCable::async_send(std::uint32_t event,
                                       BytesView payload,
                                       OrderKey key,
                                       error_code& ec) {
  ec = core().send(event, payload, key);
}

std::size_t SingleConnectionCable::connections() const { return core().links_up(); }

std::size_t SingleConnectionCable::capacity() const { return core().links(); }

std::uint16_t SingleConnectionCable::cable_id() const { return core().cable_id(); }

}  // namespace ntcpmsg
