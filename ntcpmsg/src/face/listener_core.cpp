#include "face/listener_core.hpp"

#include <sys/random.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "face/message_dispatch.hpp"
#include "ntcpmsg/io_threads.hpp"
#include "transport/tcp_stream.hpp"

namespace ntcpmsg::detail {
namespace {

// What a blocking close allows the I/O threads beyond the sessions' deadline.
constexpr Milliseconds close_grace{1000};

CableToken random_token() {
  CableToken token{};
  std::size_t filled = 0;
  while (filled < token.size()) {
    const ssize_t count = ::getrandom(token.data() + filled, token.size() - filled, 0);
    if (count > 0) filled += static_cast<std::size_t>(count);
  }
  return token;
}

SessionHandle handle_of(Session& session) {
  return SessionHandle(session.weak_from_this(), session.id());
}

}  // namespace

ListenerCore::ListenerCore(ListenerOptions options)
    : options_(std::move(options)),
      io_threads_(options_.io_threads ? options_.io_threads
                                      : std::make_shared<IoThreads>(options_.threads)),
      requests_(std::make_shared<RequestTable>(options_.max_requests, first_server_channel)),
      received_caches_(io_threads_->size()),
      flush_pending_(std::make_unique<std::atomic<bool>[]>(io_threads_->size())),
      flush_memory_(std::make_unique<HandlerMemory[]>(io_threads_->size())) {
  options_.io_threads.reset();
}

std::vector<Endpoint> ListenerCore::listen(const std::vector<Endpoint>& endpoints, error_code& ec) {
  ec = {};
  if (closing_) {
    ec = Errc::closed;
    return {};
  }
  std::vector<std::shared_ptr<Acceptor>> opened;
  std::vector<Endpoint> bound;
  for (const Endpoint& endpoint : endpoints) {
    auto acceptor =
        std::make_shared<Acceptor>(io_threads_->next(), weak_from_this(), options_.accept_pause);
    acceptor->open(endpoint, options_.backlog, ec);
    if (ec) return {};
    bound.push_back(acceptor->local_endpoint());
    opened.push_back(std::move(acceptor));
  }
  const std::lock_guard guard(mutex_);
  for (auto& acceptor : opened) {
    acceptor->start();
    acceptors_.push_back(std::move(acceptor));
    ++acceptors_open_;
  }
  return bound;
}

std::vector<Endpoint> ListenerCore::local_endpoints() const {
  const std::lock_guard guard(mutex_);
  std::vector<Endpoint> endpoints;
  for (const auto& acceptor : acceptors_) endpoints.push_back(acceptor->local_endpoint());
  return endpoints;
}

std::shared_ptr<IoThread> ListenerCore::next_io_thread() {
  const std::lock_guard guard(mutex_);
  return io_threads_ ? io_threads_->next() : nullptr;
}

void ListenerCore::on_accepted(boost::asio::ip::tcp::socket socket,
                               std::shared_ptr<IoThread> io_thread) {
  {
    const std::lock_guard guard(mutex_);
    if (closing_) return;
    ++sessions_open_;
  }
  auto& context = io_thread->context();
  boost::asio::post(context,
                    [self = shared_from_this(),
                     socket = std::move(socket),
                     io_thread = std::move(io_thread)]() mutable {
                      self->open_session(std::move(socket), io_thread);
                    });
}

void ListenerCore::open_session(boost::asio::ip::tcp::socket socket,
                                const std::shared_ptr<IoThread>& io_thread) {
  const error_code refused = apply(options_.socket, socket);
  const std::uint64_t id = next_session_id_.fetch_add(1);
  SessionConfig config{.id = id,
                       .link = id,
                       .channel_base = first_server_channel,
                       .max_message_size = options_.max_message_size,
                       .answer_hello = options_.hello,
                       .max_deferred_replies = options_.max_deferred_replies,
                       .linger_timeout = options_.linger_timeout};
  auto queue = std::make_shared<SendQueue>(
      SendQueue::Config{options_.queue, options_.batch, first_server_channel}, io_thread);
  const auto session = std::make_shared<Session>(
      Session::Parts{std::make_unique<TcpStream>(std::move(socket)),
                     io_thread,
                     std::move(queue),
                     requests_,
                     std::static_pointer_cast<SessionOwner>(shared_from_this())},
      std::move(config));
  registry_.add(session);
  sessions_total_.fetch_add(1, std::memory_order_relaxed);
  if (refused) on_error(*session, refused, "a socket option was refused");
  session->start();
  if (!closing_) return;
  // `close_sessions` may have gone by before this session was in the registry.
  const std::lock_guard guard(mutex_);
  session->close(close_options_);
}

void ListenerCore::on_accept_error(const Endpoint& local, error_code ec) {
  raise_error({ec, local, "accept", 0});
}

void ListenerCore::on_established(Session& session) {
  raise(accepted, session.remote_endpoint(), handle_of(session));
}

std::size_t ListenerCore::on_messages(Session& session, std::span<const Frame> frames) {
  auto& cache = received_caches_[session.io_thread().index()];
  const auto report = [&](std::string text) {
    raise_error({Errc::handler_threw, session.remote_endpoint(), std::move(text), 0});
  };
  return dispatch_messages(session, frames, [&](const Frame& frame) {
    const std::uint16_t claimed = frame.header.cable_id;
    if (claimed != 0 && claimed != session.cable_id() && session.is_new_claim(claimed)) {
      registry_.note_claim(session, claimed);
    }
    const auto* handler = cache.refresh(received);
    if (silenced_.load(std::memory_order_acquire)) handler = nullptr;
    dispatch_message(session, frame, handler, report);
  });
}

Hello ListenerCore::on_hello(Session& session, const Hello& request) {
  Hello answer{.features = feature::all,
               .max_message_size = static_cast<std::uint32_t>(options_.max_message_size)};
  if (request.cable_wish == CableWish::none) return answer;
  std::optional<Registry::Cable> cable;
  if (request.cable_wish == CableWish::join && request.cable_token) {
    cable = registry_.join_cable(session, *request.cable_token);
  }
  // A token of a cable that is gone: the client learns by the other token that this is a new one.
  if (!cable) cable = registry_.create_cable(session, random_token());
  answer.cable_id = cable->id;
  answer.cable_token = cable->token;
  return answer;
}

std::uint16_t ListenerCore::on_cable_id_request(Session& session) {
  return registry_.create_cable(session, std::nullopt).id;
}

void ListenerCore::on_error(Session& session, error_code ec, std::string text) {
  raise_error({ec, session.remote_endpoint(), std::move(text), 0});
}

void ListenerCore::on_writable(Session& session) {
  if (!session.queue().take_refused()) return;
  raise(writable, session.remote_endpoint(), handle_of(session));
}

void ListenerCore::on_closed(Session& session, error_code reason) {
  const Leftover leftover = session.queue().take_leftover();
  const std::size_t owed = session.deferred_replies();
  session.queue().count_unsent(leftover.messages);
  for (auto& completion : requests_->take_all(session.id())) completion(Errc::disconnected, {});
  const std::uint16_t cable_id = session.cable_id();
  const auto keep_alive = session.shared_from_this();
  {
    // Both at once, so that `statistics` counts the session exactly once.
    const std::lock_guard guard(mutex_);
    registry_.remove(session);
    session.add_to(ended_);
    session.queue().add_to(ended_);
    unfinished_.sessions += session.cut_short() ? 1 : 0;
    unfinished_.messages_unsent += leftover.messages;
    unfinished_.replies_owed += owed;
  }
  if (leftover.messages != 0) {
    raise_error({Errc::messages_unsent, session.remote_endpoint(), {}, leftover.messages});
  }
  raise(disconnected,
        session.remote_endpoint(),
        DisconnectedEvent{handle_of(session), session.remote_endpoint(), cable_id, reason});
  const auto last_owner = one_less(sessions_open_);
}

std::shared_ptr<ListenerCore> ListenerCore::one_less(std::size_t& counter) {
  const std::lock_guard guard(mutex_);
  --counter;
  if (acceptors_open_ != 0 || sessions_open_ != 0) return nullptr;
  quiet_.notify_all();
  return std::exchange(until_quiet_, nullptr);
}

void ListenerCore::stop_accepting() {
  std::vector<std::shared_ptr<Acceptor>> acceptors;
  {
    const std::lock_guard guard(mutex_);
    acceptors.swap(acceptors_);
  }
  for (const auto& acceptor : acceptors) {
    acceptor->close([self = shared_from_this()] { self->one_less(self->acceptors_open_); });
  }
}

void ListenerCore::close_sessions(CloseOptions options) {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
    close_options_ = options;
  }
  stop_accepting();
  const auto registered = registry_.snapshot();
  for (const auto& session : registered->sessions) session->close(options);
}

bool ListenerCore::wait_quiet(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  const auto quiet = [this] { return acceptors_open_ == 0 && sessions_open_ == 0; };
  if (deadline == TimePoint::max()) {
    quiet_.wait(lock, quiet);
    return true;
  }
  return quiet_.wait_until(lock, deadline, quiet);
}

void ListenerCore::close(Milliseconds timeout) {
  const TimePoint deadline = deadline_after(Clock::now(), timeout);
  close_sessions({.deadline = deadline});
  if (io_threads_ && io_threads_->running_in_this_thread()) return;
  wait_quiet(deadline_after(deadline, close_grace));
}

Listener::DrainResult ListenerCore::drain(Milliseconds timeout, error_code& ec) {
  ec = {};
  if (io_threads_->running_in_this_thread()) {
    ec = Errc::would_deadlock;
    return {};
  }
  {
    const std::lock_guard guard(mutex_);
    unfinished_ = {};
  }
  const TimePoint deadline = deadline_after(Clock::now(), timeout);
  close_sessions({.finish_received = true, .deadline = deadline});
  wait_quiet(deadline_after(deadline, close_grace));
  const std::lock_guard guard(mutex_);
  return unfinished_;
}

void ListenerCore::shut_down() {
  const bool in_handler = io_threads_->running_in_this_thread();
  if (in_handler) {
    silenced_ = true;
    const std::lock_guard guard(mutex_);
    if (acceptors_open_ != 0 || sessions_open_ != 0) until_quiet_ = shared_from_this();
  }
  close(options_.close_timeout);
  silenced_ = true;
  if (in_handler) return;
  std::shared_ptr<IoThreads> threads;
  const std::lock_guard guard(mutex_);
  threads = std::move(io_threads_);
}

std::size_t ListenerCore::broadcast(std::uint32_t event, BytesView payload) {
  const AppendOptions options{.may_wait = false, .flushed_by_caller = true};
  const auto registered = registry_.snapshot();
  std::size_t count = 0;
  for (const auto& session : registered->peers) {
    if (!session->push(event, payload, options)) ++count;
  }
  if (count != 0) flush_sessions_soon();
  return count;
}

void ListenerCore::flush_sessions_soon() {
  std::shared_ptr<IoThreads> threads;
  {
    const std::lock_guard guard(mutex_);
    threads = io_threads_;
  }
  if (!threads) return;
  for (std::size_t i = 0; i < threads->size(); ++i) {
    if (flush_pending_[i].exchange(true)) continue;
    post(*threads->at(i), flush_memory_[i], [self = shared_from_this(), i] {
      self->flush_sessions(i);
    });
  }
}

void ListenerCore::flush_sessions(std::size_t thread) {
  // First, so that what is appended from here on is seen here or has a flush of its own.
  flush_pending_[thread].store(false);
  const auto registered = registry_.snapshot();
  for (const auto& session : registered->sessions) {
    if (session->io_thread().index() == thread) session->queue().flush();
  }
}

Statistics ListenerCore::statistics() const {
  const std::lock_guard guard(mutex_);
  Statistics total = ended_;
  total.bytes_queued = 0;
  const auto registered = registry_.snapshot();
  for (const auto& session : registered->sessions) {
    session->add_to(total);
    session->queue().add_to(total);
  }
  total.sessions = registry_.size();
  total.cables = registry_.cables();
  total.sessions_total = sessions_total_.load(std::memory_order_relaxed);
  return total;
}

template <typename Signature, typename... Args>
void ListenerCore::raise(const EventSlot<Signature>& slot, const Endpoint& remote, Args&&... args) {
  if (silenced_) return;
  const auto handler = slot.get();
  if (!handler) return;
  try {
    (*handler)(std::forward<Args>(args)...);
  } catch (...) {
    raise_error({Errc::handler_threw, remote, describe(std::current_exception()), 0});
  }
}

void ListenerCore::raise_error(const ErrorEvent& event) {
  if (silenced_) return;
  const auto handler = error.get();
  if (!handler) return;
  try {
    (*handler)(event);
  } catch (...) {
    // There is nobody left to tell.
  }
}

}  // namespace ntcpmsg::detail
