#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/byte_buffer.hpp"
#include "batch/inbound_tail.hpp"
#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/options.hpp"
#include "ntcpmsg/statistics.hpp"
#include "session/hello_machine.hpp"
#include "session/request_table.hpp"
#include "session/send_queue.hpp"
#include "session/session_owner.hpp"
#include "transport/handler_memory.hpp"
#include "transport/io_thread.hpp"
#include "transport/stream.hpp"
#include "wire/frame.hpp"

namespace ntcpmsg::detail {

/// The hello's channel, never used by a request: a late answer to a repeated hello must find
/// nobody.
inline constexpr std::uint32_t hello_channel = 0x7FFF'FFFF;

/// What a session is born with.
struct SessionConfig {
  std::uint64_t id = 0;
  /// What the request table knows this connection by.
  RequestTable::Link link = 0;
  /// Channels of the requests this side makes: 0 or `first_server_channel`.
  std::uint32_t channel_base = 0;
  std::size_t max_message_size = max_payload_size;
  /// The hello to send first; unset: do not ask.
  std::optional<Hello> hello = std::nullopt;
  Milliseconds hello_timeout{500};
  /// Answer the peer's hello.
  bool answer_hello = true;
  std::size_t max_deferred_replies = 65'536;
  /// After the peer's end of stream: answer what it asked before that, for up to this long. 0: the
  /// session ends with the peer's stream.
  Milliseconds linger_timeout{0};
};

/// How a session ends at the user's wish.
struct CloseOptions {
  /// Handle what the peer has already sent, and wait for deferred replies.
  bool finish_received = false;
  TimePoint deadline{};
};

/// One live connection on one I/O thread, of a client or of a server alike. Born connected; ends
/// once, with a reason. Operations in flight and its registry or client own it.
///
/// Thread-safe are: the accessors, `push`, `reply`, `reply_error`, `reply_taken`, `close`.
class Session final : public std::enable_shared_from_this<Session>,
                      public StreamEvents,
                      public WriteTarget {
 public:
  struct Parts {
    std::unique_ptr<Stream> stream;
    std::shared_ptr<IoThread> io_thread;
    std::shared_ptr<SendQueue> queue;
    std::shared_ptr<RequestTable> requests;
    std::weak_ptr<SessionOwner> owner;
  };

  Session(Parts parts, SessionConfig config);

  /// I/O thread: begins with the hello or at once.
  void start();
  /// I/O thread: ends the session now.
  void abort(error_code reason);
  /// Lets what is queued leave, says goodbye, waits for the peer's; cuts at the deadline.
  void close(CloseOptions options);

  std::uint64_t id() const noexcept { return config_.id; }
  const Endpoint& remote_endpoint() const noexcept { return stream_->remote_endpoint(); }
  const Endpoint& local_endpoint() const noexcept { return stream_->local_endpoint(); }
  bool open() const noexcept { return !ended_.load(std::memory_order_acquire); }
  std::uint32_t features() const noexcept { return features_.load(std::memory_order_acquire); }
  std::uint16_t cable_id() const noexcept { return cable_id_.load(std::memory_order_acquire); }
  void set_cable_id(std::uint16_t id) noexcept { cable_id_.store(id, std::memory_order_release); }
  /// The peer's hello; unset with an original peer. I/O thread, once established.
  const std::optional<Hello>& peer_hello() const noexcept { return peer_hello_; }
  /// I/O thread: a cable id, other than the session's own, seen in a frame for the first time.
  bool is_new_claim(std::uint16_t cable_id) noexcept {
    return std::exchange(claimed_cable_id_, cable_id) != cable_id;
  }
  /// The deadline of `close` ended it.
  bool cut_short() const noexcept { return cut_short_; }
  std::size_t deferred_replies() const noexcept {
    return deferred_.load(std::memory_order_acquire);
  }
  IoThread& io_thread() const noexcept { return *io_thread_; }
  SendQueue& queue() const noexcept { return *queue_; }
  RequestTable& requests() const noexcept { return *requests_; }
  void add_to(Statistics& total) const noexcept;

  /// Sends a message to the peer.
  error_code push(std::uint32_t event, BytesView payload, const AppendOptions& options);
  /// Answers a request of the peer's: what identifies it goes back with the reply.
  error_code reply(const FrameHeader& request, BytesView payload);
  /// The short way of a reply, as that of `SendQueue`; false when it has to go by `reply`.
  bool reply_in_burst(const FrameHeader& request, BytesView payload) {
    return open() && queue_->append_in_burst(reply_header(request), payload);
  }
  /// Tells the peer that its request failed, by an empty reply when it knows no errors.
  void reply_error(const FrameHeader& request, std::string_view text);
  /// A responder was taken; `reply_settled` when it was used or dropped.
  void reply_deferred() noexcept { deferred_.fetch_add(1, std::memory_order_acq_rel); }
  void reply_settled();

  void on_readable(error_code ec) override;
  void on_writable(error_code ec) override;

  std::size_t write_some(BytesView bytes, error_code& ec) noexcept override;
  void schedule_flush(std::chrono::microseconds delay) override;
  void wait_writable() override;
  void write_failed(error_code ec) override;
  void queue_drained() override;
  void trim_later() override;

 private:
  // The life of a session; see `start`, `establish`, `close`, `end`.
  enum class Phase { negotiating, open, closing, ended };

  static FrameHeader reply_header(const FrameHeader& request) noexcept {
    return {.flags = flag::sync,
            .event = request.event,
            .cable_id = request.cable_id,
            .channel = request.channel};
  }

  template <typename Step>
  void run_turn(Step step);
  template <typename Step>
  void post(Step step);

  void on_hello_action(HelloMachine::Action action);
  void establish();

  void read_turn();
  void process_pending();
  BytesView process(BytesView in);
  /// Handles frames until reading pauses or the session ends; returns how many.
  std::size_t dispatch(std::span<const Frame> frames);
  void dispatch(const Frame& frame);
  /// The plain messages at the beginning.
  std::span<const Frame> plain_run(std::span<const Frame> frames) const noexcept;
  bool hold_until_established(const Frame& frame);
  void on_inner(const Frame& frame);
  void answer_hello(const Frame& frame);
  void answer_cable_id_request(const Frame& frame);
  void on_reply(const Frame& frame);
  bool is_reply(const FrameHeader& header) const noexcept;
  void on_protocol_error(error_code ec, BytesView at);
  void on_stream_end(error_code ec);
  bool may_read() const noexcept;
  bool above_limit(const Frame& frame) const noexcept;
  bool must_pause() const noexcept;
  void wait_for_more();
  void reconsider();

  void begin_close(CloseOptions options);
  void try_finish();
  void end(error_code reason);
  void flush();
  boost::asio::steady_timer& make(std::unique_ptr<boost::asio::steady_timer>& timer);
  void flush_later(std::chrono::microseconds delay);
  void start_trim_timer();
  void arm_timer(TimePoint deadline);
  void on_timer();

  std::unique_ptr<Stream> stream_;
  std::shared_ptr<IoThread> io_thread_;
  std::shared_ptr<SendQueue> queue_;
  std::shared_ptr<RequestTable> requests_;
  std::weak_ptr<SessionOwner> owner_;
  HandlerMemory handler_memory_;
  std::atomic<bool> flush_posted_{false};
  SessionConfig config_;
  // Of a session that sends a hello.
  std::unique_ptr<HelloMachine> hello_;
  std::optional<Hello> peer_hello_;
  // Made when first needed; most sessions of a server never do.
  std::unique_ptr<boost::asio::steady_timer> timer_;
  TimePoint timer_deadline_ = TimePoint::max();
  std::unique_ptr<boost::asio::steady_timer> flush_timer_;
  std::unique_ptr<boost::asio::steady_timer> trim_timer_;

  Phase phase_ = Phase::negotiating;
  // Set during a turn, so that handlers find their owner alive; null outside.
  SessionOwner* turn_owner_ = nullptr;
  bool flush_wanted_ = false;
  bool waiting_readable_ = false;
  bool paused_ = false;
  bool peer_ended_ = false;
  bool said_goodbye_ = false;
  bool finish_received_ = false;
  bool discarding_ = false;
  bool cut_short_ = false;
  std::uint16_t claimed_cable_id_ = 0;
  TimePoint close_deadline_ = TimePoint::max();

  InboundTail tail_;
  std::size_t needed_ = 0;
  // Frames that came before the answer to our hello.
  ByteBuffer held_;

  std::atomic<bool> ended_{false};
  std::atomic<std::uint32_t> features_{0};
  std::atomic<std::uint16_t> cable_id_{0};
  std::atomic<std::size_t> deferred_{0};
  std::atomic<std::uint64_t> messages_received_{0};
  std::atomic<std::uint64_t> bytes_received_{0};
  std::atomic<std::uint64_t> reads_{0};
};

}  // namespace ntcpmsg::detail
