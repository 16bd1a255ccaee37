#include "fault_proxy.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <utility>

namespace ntcpmsg::test {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

void reset(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

void set_up(tcp::socket& socket, int buffer_bytes) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (buffer_bytes == 0) return;
  socket.set_option(boost::asio::socket_base::send_buffer_size(buffer_bytes), ignored);
  socket.set_option(boost::asio::socket_base::receive_buffer_size(buffer_bytes), ignored);
}

void end_stream(tcp::socket& socket) {
  error_code ignored;
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace

/// Two sockets and the flows between them. Operations in flight own it.
class FaultProxy::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket client, const FaultPlan& plan, std::atomic<std::size_t>& cuts)
      : client_(std::move(client)),
        server_(client_.get_executor()),
        up_(client_, server_, plan.up),
        down_(server_, client_, plan.down),
        buffer_bytes_(plan.buffer_bytes),
        cuts_(cuts) {}

  void start(const Endpoint& target) {
    server_.async_connect(target, [self = shared_from_this()](error_code ec) {
      if (ec) return self->reset_both();
      set_up(self->client_, self->buffer_bytes_);
      set_up(self->server_, self->buffer_bytes_);
      self->read(self->up_);
      self->read(self->down_);
    });
  }

  void cut(Cut how) { cut(up_, how); }

 private:
  struct Flow {
    Flow(tcp::socket& source, tcp::socket& sink, const FlowFault& what)
        : from(source), to(sink), fault(what), timer(source.get_executor()) {}

    tcp::socket& from;
    tcp::socket& to;
    FlowFault fault;
    boost::asio::steady_timer timer;
    std::array<char, 16 * 1024> buffer{};
    std::uint64_t passed = 0;
    bool discarding = false;
    bool stalled = false;
    bool ended = false;
  };

  void read(Flow& flow) {
    std::uint64_t most = std::min(flow.buffer.size(), flow.fault.largest_piece);
    if (flow.fault.cut != Cut::none && !flow.discarding) {
      const std::uint64_t rest = flow.fault.cut_after - flow.passed;
      if (rest == 0) cut(flow, std::exchange(flow.fault.cut, Cut::none));
      if (rest != 0) most = std::min(most, rest);
    }
    if (flow.stalled || !flow.from.is_open()) return;
    flow.from.async_read_some(
        boost::asio::buffer(flow.buffer.data(), static_cast<std::size_t>(most)),
        [self = shared_from_this(), &flow](error_code ec, std::size_t count) {
          if (ec) return self->on_end(flow, ec);
          if (flow.discarding) return self->read(flow);
          self->hold(flow, count);
        });
  }

  void hold(Flow& flow, std::size_t count) {
    std::chrono::nanoseconds time = flow.fault.delay;
    if (flow.fault.bytes_per_second != 0) {
      time += std::chrono::nanoseconds(1'000'000'000 * count / flow.fault.bytes_per_second);
    }
    if (time.count() == 0) return write(flow, count);
    flow.timer.expires_after(time);
    flow.timer.async_wait([self = shared_from_this(), &flow, count](error_code ec) {
      if (!ec) self->write(flow, count);
    });
  }

  void write(Flow& flow, std::size_t count) {
    if (flow.discarding) return read(flow);
    boost::asio::async_write(
        flow.to,
        boost::asio::buffer(flow.buffer.data(), count),
        [self = shared_from_this(), &flow](error_code ec, std::size_t written) {
          if (ec && !flow.discarding) return self->reset_both();
          flow.passed += written;
          self->read(flow);
        });
  }

  void cut(Flow& flow, Cut how) {
    cuts_.fetch_add(how != Cut::none && client_.is_open() ? 1 : 0);
    switch (how) {
      case Cut::none: return;
      case Cut::reset: return reset_both();
      case Cut::close:
        end_stream(client_);
        end_stream(server_);
        [[fallthrough]];
      case Cut::black_hole: up_.discarding = down_.discarding = true; return;
      case Cut::half_close:
        end_stream(flow.to);
        flow.discarding = true;
        return;
      case Cut::stall: flow.stalled = true; return;
    }
  }

  void on_end(Flow& flow, error_code ec) {
    flow.ended = true;
    if (!flow.discarding) {
      if (ec != boost::asio::error::eof) return reset_both();
      end_stream(flow.to);
    }
    if (!up_.ended || !down_.ended) return;
    error_code ignored;
    client_.close(ignored);
    server_.close(ignored);
  }

  void reset_both() {
    reset(client_);
    reset(server_);
    up_.timer.cancel();
    down_.timer.cancel();
  }

  tcp::socket client_;
  tcp::socket server_;
  Flow up_;
  Flow down_;
  int buffer_bytes_;
  std::atomic<std::size_t>& cuts_;
};

FaultProxy::FaultProxy(const Endpoint& target, Planner planner, const Endpoint& local)
    : work_(context_.get_executor()),
      acceptor_(context_, local),
      target_(target),
      local_(acceptor_.local_endpoint()),
      planner_(std::move(planner)) {
  accept();
  thread_ = std::thread([this] { context_.run(); });
}

FaultProxy::~FaultProxy() {
  context_.stop();
  thread_.join();
}

void FaultProxy::set_planner(Planner planner) {
  const std::lock_guard guard(mutex_);
  planner_ = std::move(planner);
}

void FaultProxy::set_plan(const FaultPlan& plan) {
  set_planner([plan](std::size_t) { return plan; });
}

FaultPlan FaultProxy::plan(std::size_t index) {
  const std::lock_guard guard(mutex_);
  return planner_ ? planner_(index) : FaultPlan{};
}

void FaultProxy::accept() {
  acceptor_.async_accept([this](error_code ec, tcp::socket socket) {
    if (ec) return;
    const auto connection =
        std::make_shared<Connection>(std::move(socket), plan(accepted_.fetch_add(1)), cuts_);
    std::erase_if(connections_, [](const auto& each) { return each.expired(); });
    connections_.push_back(connection);
    connection->start(target_);
    accept();
  });
}

void FaultProxy::cut_all(Cut cut) {
  std::promise<void> done;
  boost::asio::post(context_, [this, cut, &done] {
    for (const auto& each : connections_) {
      if (const auto connection = each.lock()) connection->cut(cut);
    }
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace ntcpmsg::test
