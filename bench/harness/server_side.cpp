#include "harness/server_side.hpp"

#include <atomic>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "harness/usage.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{5};
constexpr std::chrono::microseconds look_again{200};

/// Waits until `wanted` messages came, or none for `patience`.
std::uint64_t await_received(const ServerPeer& peer, std::uint64_t wanted) {
  std::uint64_t before = peer.received();
  auto last_progress = Clock::now();
  while (before < wanted && Clock::now() - last_progress < patience) {
    std::this_thread::sleep_for(look_again);
    const std::uint64_t now = peer.received();
    if (now != before) last_progress = Clock::now();
    before = now;
  }
  return before;
}

/// Publishes rounds on a thread of its own, bounded by the credit the clients give.
class Publisher {
 public:
  Publisher(ServerPeer& peer, std::size_t size, std::ptrdiff_t window)
      : credit_(window), thread_([this, &peer, payload = make_payload(size)] {
          for (;;) {
            credit_.acquire();
            if (stopping_.load()) return;
            peer.publish(payload);
            rounds_.fetch_add(1);
          }
        }) {}
  ~Publisher() { stop(); }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  void add_credit(std::ptrdiff_t rounds) { credit_.release(rounds); }
  std::uint64_t stop() {
    if (!stopping_.exchange(true)) {
      credit_.release();
      thread_.join();
    }
    return rounds_.load();
  }

 private:
  std::counting_semaphore<> credit_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> rounds_{0};
  std::thread thread_;
};

nlohmann::ordered_json usage_since(const Usage& begin, double others_begin, ServerPeer& peer) {
  Usage used = Usage::now() - begin;
  used.cpu_seconds += peer.other_cpu_seconds() - others_begin;
  return used;
}

}  // namespace

void serve(Control& control, ServerPeer& peer, const Work& work) {
  Usage begin;
  double others_begin = 0;
  std::unique_ptr<Publisher> publisher;
  for (;;) {
    std::istringstream request(control.read_line());
    std::string word;
    std::uint64_t number = 0;
    request >> word >> number;
    if (word == "clients") {
      control.write_line(std::to_string(peer.clients()));
    } else if (word == "begin") {
      begin = Usage::now();
      others_begin = peer.other_cpu_seconds();
      control.write_line("ok");
    } else if (word == "await") {
      control.write_line(std::to_string(await_received(peer, number)));
    } else if (word == "publish") {
      publisher = std::make_unique<Publisher>(peer, work.size, static_cast<std::ptrdiff_t>(number));
      control.write_line("ok");
    } else if (word == "credit") {
      if (publisher) publisher->add_credit(static_cast<std::ptrdiff_t>(number));
    } else if (word == "pause") {
      control.write_line(std::to_string(publisher ? publisher->stop() : 0));
    } else if (word == "end") {
      control.write_line(usage_since(begin, others_begin, peer).dump());
    } else {
      throw std::runtime_error("unknown request '" + word + "'");
    }
  }
}

}  // namespace bench
