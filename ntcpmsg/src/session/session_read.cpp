// How a session reads: from readiness to the owner's `on_messages`.

#include <array>
#include <boost/asio/error.hpp>
#include <cstdio>

#include "session/session.hpp"
#include "session/session_turn.hpp"
#include "wire/inner_message.hpp"

namespace ntcpmsg::detail {
namespace {

// Reads of one session in a row before the other sessions of the thread have their turn.
constexpr int reads_per_turn = 4;

// Inner messages are ours, not the user's: no limit below this concerns them.
constexpr std::size_t least_limit = 256;

// Before the answer to our hello only a peer's early pushes arrive; one that floods gets no hello.
constexpr std::size_t most_held = 1024 * 1024;

void add(std::atomic<std::uint64_t>& counter, std::uint64_t count) noexcept {
  // Only the I/O thread writes.
  counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
}

// Handlers take it by value, and a copy of one just made would wait for its fields to be written.
const error_code success;

std::string describe_bytes(BytesView bytes) {
  std::string text = "found";
  for (const std::byte byte : bytes.first(std::min<std::size_t>(bytes.size(), 16))) {
    char hex[4];
    std::snprintf(hex, sizeof hex, " %02x", std::to_integer<unsigned>(byte));
    text += hex;
  }
  return text;
}

}  // namespace

void Session::on_readable(error_code ec) {
  waiting_readable_ = false;
  if (phase_ == Phase::ended) return;
  if (ec) return abort(ec);
  run_turn([this] { read_turn(); });
}

bool Session::may_read() const noexcept {
  return phase_ != Phase::ended && !peer_ended_ && !paused_;
}

void Session::wait_for_more() {
  if (!may_read() || waiting_readable_) return;
  waiting_readable_ = true;
  stream_->wait_readable(shared_from_this());
}

void Session::read_turn() {
  for (int turn = 0; turn < reads_per_turn && may_read(); ++turn) {
    const std::span<std::byte> space = tail_.prepare(io_thread_->read_buffer());
    error_code ec;
    const std::size_t count = stream_->read_some(space, ec);
    if (count == 0) {
      tail_.keep(tail_.commit(0), needed_);
      if (ec == boost::asio::error::would_block) {
        if (phase_ == Phase::closing) discarding_ = true;
        return;
      }
      return on_stream_end(ec);
    }
    add(reads_, 1);
    add(bytes_received_, count);
    const BytesView rest = process(tail_.commit(count));
    tail_.keep(rest, needed_);
    if (count < space.size() && phase_ != Phase::closing) return;
  }
}

void Session::process_pending() {
  const BytesView rest = process(tail_.pending());
  tail_.keep(rest, needed_);
}

BytesView Session::process(BytesView in) {
  std::array<Frame, 64> frames;
  needed_ = 0;
  while (phase_ != Phase::ended && !paused_) {
    if (discarding_) return {};
    const DecodeResult result =
        decode_frames(in, frames, std::max(config_.max_message_size, least_limit));
    const std::size_t handled = dispatch({frames.data(), result.frames});
    add(messages_received_, handled);
    if (phase_ == Phase::ended) return {};
    if (handled < result.frames) {
      const BytesView last = frames[handled - 1].payload;
      return in.last(static_cast<std::size_t>(in.data() + in.size() - last.data()) - last.size());
    }
    in = in.subspan(result.consumed);
    needed_ = result.needed;
    if (result.error) {
      on_protocol_error(result.error, in);
      return {};
    }
    if (result.frames < frames.size()) break;
  }
  return in;
}

std::span<const Frame> Session::plain_run(std::span<const Frame> frames) const noexcept {
  if (phase_ == Phase::negotiating || config_.max_message_size < least_limit) return {};
  std::size_t count = 0;
  while (count < frames.size() && (frames[count].header.flags & (flag::sync | flag::inner)) == 0) {
    ++count;
  }
  return frames.first(count);
}

std::size_t Session::dispatch(std::span<const Frame> frames) {
  std::size_t done = 0;
  while (done < frames.size() && phase_ != Phase::ended) {
    // Most frames are plain messages; they are handed over together.
    const auto run = plain_run(frames.subspan(done));
    if (!run.empty()) {
      done += turn_owner_->on_messages(*this, run);
      continue;
    }
    const Frame& frame = frames[done++];
    dispatch(frame);
    if ((frame.header.flags & flag::sync) == 0 || !must_pause()) continue;
    paused_ = true;
    queue_->notify_at(queue_->low_water_mark());
    break;
  }
  return done;
}

void Session::on_protocol_error(error_code ec, BytesView at) {
  turn_owner_->on_error(*this, ec, describe_bytes(at));
  end(ec);
}

bool Session::above_limit(const Frame& frame) const noexcept {
  if (frame.payload.size() <= config_.max_message_size) return false;
  const bool handshake =
      (frame.header.flags & flag::inner) != 0 || frame.header.channel == hello_channel;
  return !handshake;
}

bool Session::must_pause() const noexcept {
  return queue_->above_high_water() || deferred_replies() >= config_.max_deferred_replies;
}

void Session::on_stream_end(error_code ec) {
  if (ec != boost::asio::error::eof) return end(ec);
  if (phase_ == Phase::closing) {
    peer_ended_ = true;
    return;
  }
  if (config_.linger_timeout.count() == 0 || phase_ == Phase::negotiating) {
    return end(Errc::end_of_stream);
  }
  peer_ended_ = true;
  arm_timer(deadline_after(Clock::now(), config_.linger_timeout));
}

bool Session::is_reply(const FrameHeader& header) const noexcept {
  if ((header.flags & flag::sync) == 0) return false;
  const bool ours = (header.channel & first_server_channel) == config_.channel_base;
  // An original client may not use a server's channels, but when it does it means a request.
  return ours && (config_.channel_base == 0 || (features() & feature::sync_push) != 0);
}

void Session::dispatch(const Frame& frame) {
  if (above_limit(frame)) {
    const std::byte* const begin = frame.payload.data() - frame_header_size;
    return on_protocol_error(Errc::message_limit_exceeded, {begin, frame_header_size});
  }
  if (phase_ == Phase::negotiating && hold_until_established(frame)) return;
  if ((frame.header.flags & (flag::sync | flag::inner)) != 0) {
    if (is_reply(frame.header)) return on_reply(frame);
    if ((frame.header.flags & flag::inner) != 0) return on_inner(frame);
  }
  turn_owner_->on_messages(*this, {&frame, 1});
}

bool Session::hold_until_established(const Frame& frame) {
  if (is_reply(frame.header)) {
    on_hello_action(hello_->on_reply(frame.payload));
    return true;
  }
  if (held_.size() + frame.payload.size() > most_held) {
    establish();
    return phase_ == Phase::ended;
  }
  const std::size_t size = frame_header_size + frame.payload.size();
  encode_frame(frame.header, frame.payload, held_.prepare(size));
  held_.commit(size);
  return true;
}

void Session::on_reply(const Frame& frame) {
  ReplyCompletion completion = requests_->take(frame.header.channel, config_.link);
  if (!completion) return;
  const bool failed =
      (frame.header.flags & flag::error) != 0 && (features() & feature::error_replies) != 0;
  if (failed) return completion(Errc::remote_error, frame.payload);
  completion(success, frame.payload);
}

void Session::on_inner(const Frame& frame) {
  if ((frame.header.flags & flag::sync) == 0) return;
  switch (frame.header.event) {
    case inner_event::hello:
      if (config_.answer_hello) return answer_hello(frame);
      break;
    case inner_event::processor_id: return answer_cable_id_request(frame);
    default: break;
  }
  reply(frame.header, {});
}

void Session::answer_hello(const Frame& frame) {
  Bytes answer;
  if (const auto request = decode_hello(frame.payload)) {
    const Hello hello = turn_owner_->on_hello(*this, *request);
    answer = encode(hello);
    features_.store(hello.features & request->features, std::memory_order_release);
    peer_hello_ = request;
    queue_->set_peer_limit(request->max_message_size);
  }
  const FrameHeader header{.flags = flag::sync,
                           .event = frame.header.event,
                           .cable_id = frame.header.cable_id,
                           .channel = frame.header.channel};
  queue_->append(header, answer, {.never_refused = true, .handshake = true});
}

void Session::answer_cable_id_request(const Frame& frame) {
  const auto request = decode_processor_id_request(frame.payload);
  if (!request) {
    turn_owner_->on_error(*this, Errc::protocol_violation, "cable id request is too short");
    reply(frame.header, {});
    return;
  }
  const ProcessorIdReply answer{choose_processor(request->affinity_mask),
                                turn_owner_->on_cable_id_request(*this)};
  const auto payload = encode(answer);
  reply(frame.header, payload);
}

}  // namespace ntcpmsg::detail
