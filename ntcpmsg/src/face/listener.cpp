#include "ntcpmsg/listener.hpp"

#include <utility>

#include "base/checks.hpp"
#include "face/listener_core.hpp"

namespace ntcpmsg {
namespace {

std::shared_ptr<detail::ListenerCore> make_core(ListenerOptions options) {
  detail::require(options.threads >= 1, "a listener needs at least 1 thread");
  detail::require(options.max_message_size <= max_payload_size,
                  "max_message_size is at most 16777215");
  detail::require(options.queue.high_water_mark > 0, "high_water_mark must be above 0");
  detail::require(options.batch.max_bytes > 0, "batch.max_bytes must be above 0");
  detail::require(options.max_requests > 0, "max_requests must be above 0");
  detail::require(options.max_deferred_replies > 0, "max_deferred_replies must be above 0");
  return std::make_shared<detail::ListenerCore>(std::move(options));
}

void push_to(const std::shared_ptr<detail::Session>& session,
             std::uint32_t event,
             BytesView payload,
             error_code& ec) {
  ec = session ? session->push(event, payload, {}) : error_code(Errc::unknown_peer);
}

}  // namespace

Listener::Listener(ListenerOptions options) : core_(make_core(std::move(options))) {}

Listener::~Listener() { core_->shut_down(); }

void Listener::on_accepted(std::function<void(SessionHandle)> handler) {
  core_->accepted.set(std::move(handler));
}

void Listener::on_received(std::function<void(Message&)> handler) {
  core_->received.set(std::move(handler));
}

void Listener::on_disconnected(std::function<void(const DisconnectedEvent&)> handler) {
  core_->disconnected.set(std::move(handler));
}

void Listener::on_error(std::function<void(const ErrorEvent&)> handler) {
  core_->error.set(std::move(handler));
}

void Listener::on_writable(std::function<void(SessionHandle)> handler) {
  core_->writable.set(std::move(handler));
}

std::vector<Endpoint> Listener::listen(const std::vector<Endpoint>& endpoints) {
  error_code ec;
  auto bound = core_->listen(endpoints, ec);
  detail::throw_on_error(ec);
  return bound;
}

std::vector<Endpoint> Listener::listen(const std::vector<Endpoint>& endpoints, error_code& ec) {
  return core_->listen(endpoints, ec);
}

Endpoint Listener::listen(const Endpoint& endpoint) {
  return listen(std::vector<Endpoint>{endpoint}).front();
}

Endpoint Listener::listen(const Endpoint& endpoint, error_code& ec) {
  const auto bound = core_->listen({endpoint}, ec);
  return bound.empty() ? Endpoint() : bound.front();
}

std::vector<Endpoint> Listener::local_endpoints() const { return core_->local_endpoints(); }

void Listener::close(Milliseconds timeout) { core_->close(timeout); }

Listener::DrainResult Listener::drain(Milliseconds timeout) {
  error_code ec;
  const DrainResult result = core_->drain(timeout, ec);
  detail::throw_on_error(ec);
  return result;
}

Listener::DrainResult Listener::drain(Milliseconds timeout, error_code& ec) {
  return core_->drain(timeout, ec);
}

void Listener::push(const Endpoint& remote, std::uint32_t event, BytesView payload) {
  error_code ec;
  push(remote, event, payload, ec);
  detail::throw_on_error(ec);
}

void Listener::push(const Endpoint& remote,
                    std::uint32_t event,
                    BytesView payload,
                    error_code& ec) {
  push_to(core_->registry().find(remote), event, payload, ec);
}

void Listener::push(std::uint16_t cable_id, std::uint32_t event, BytesView payload) {
  error_code ec;
  push(cable_id, event, payload, ec);
  detail::throw_on_error(ec);
}

void Listener::push(std::uint16_t cable_id,
                    std::uint32_t event,
                    BytesView payload,
                    error_code& ec) {
  push_to(core_->registry().find(cable_id), event, payload, ec);
}

std::size_t Listener::broadcast(std::uint32_t event, BytesView payload) {
  return core_->broadcast(event, payload);
}

std::vector<SessionHandle> Listener::sessions() const {
  std::vector<SessionHandle> handles;
  const auto registered = core_->registry().snapshot();
  for (const auto& session : registered->sessions) {
    handles.emplace_back(session, session->id());
  }
  return handles;
}

std::vector<Endpoint> Listener::remote_endpoints() const {
  std::vector<Endpoint> endpoints;
  const auto registered = core_->registry().snapshot();
  for (const auto& session : registered->sessions) {
    endpoints.push_back(session->remote_endpoint());
  }
  return endpoints;
}

std::vector<std::uint16_t> Listener::cable_ids() const { return core_->registry().cable_ids(); }

Statistics Listener::statistics() const { return core_->statistics(); }

}  // namespace ntcpmsg
