#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "fault_support.hpp"

namespace ntcpmsg::test {

// What a handler does, and in which event; see client_callbacks_test and listener_callbacks_test.

enum class Action { send, close, sync_call, destroy, throw_exception };

inline const char* to_string(Action action) {
  switch (action) {
    case Action::send: return "send";
    case Action::close: return "close";
    case Action::sync_call: return "sync_call";
    case Action::destroy: return "destroy";
    case Action::throw_exception: return "throw";
  }
  return "?";
}

/// `connected` of a client is `accepted` of a listener.
enum class Event { connected, received, disconnected, error };

inline const char* to_string(Event event) {
  switch (event) {
    case Event::connected: return "connected";
    case Event::received: return "received";
    case Event::disconnected: return "disconnected";
    case Event::error: return "error";
  }
  return "?";
}

inline constexpr Event all_events[] = {Event::connected,
                                       Event::received,
                                       Event::disconnected,
                                       Event::error};
inline constexpr Action all_actions[] = {Action::send,
                                         Action::close,
                                         Action::sync_call,
                                         Action::destroy,
                                         Action::throw_exception};

/// Messages that are sent in a row to the object under test, so that more follow the one whose
/// handler acts.
inline constexpr int burst = 5;

inline constexpr const char* thrown_text = "thrown on purpose";
/// How an error event is provoked.
inline constexpr const char* provoking_text = "thrown to raise an error event";

/// What happened to the object under test.
struct Observed {
  int connected = 0;
  int received = 0;
  int disconnected = 0;
  std::vector<ErrorEvent> errors;

  bool acted = false;
  /// Results of the action's calls, in the order of the calls.
  std::vector<error_code> results;
  /// How long the action took.
  std::chrono::steady_clock::duration took{};
  /// Handlers called after the destructor had returned.
  int late_calls = 0;
  bool destroyed = false;
  /// The handlers, and with them the body of the object, are gone.
  bool gone = false;

  /// How often an exception with this text was reported.
  long reported(const std::string& text) const {
    return std::count_if(errors.begin(), errors.end(), [&](const ErrorEvent& event) {
      return event.code == Errc::handler_threw && event.text == text;
    });
  }
};

/// Freed inside the destroying handler, so that AddressSanitizer sees every handler that comes
/// later.
struct Tally {
  long calls = 0;
};

/// What the handlers of an object under test have in common: they count, and the first one of the
/// chosen event acts.
class Actor {
 public:
  Actor(Event event, Action action) : event_(event), action_(action) {}

  /// To be captured by every handler.
  struct Token {
    std::shared_ptr<void> sentinel;
    Tally* tally;
  };
  Token token() {
    if (sentinel_.expired()) {
      const std::shared_ptr<void> fresh(static_cast<void*>(this), [this](void*) {
        observed.change([](Observed& o) { o.gone = true; });
      });
      sentinel_ = fresh;
      return {fresh, tally_.get()};
    }
    return {sentinel_.lock(), tally_.get()};
  }

  /// Called by the handler of `event`; `act` gives the results of the action's calls.
  template <typename Count, typename Act>
  void handle(Event event, const Token& token, Count count, Act act) {
    bool mine = false;
    observed.change([&](Observed& o) {
      count(o);
      if (o.destroyed) ++o.late_calls;
      mine = event == event_ && !std::exchange(begun_, begun_ || event == event_);
    });
    ++token.tally->calls;
    if (!mine) {
      if (event == Event::received && event_ == Event::error && !std::exchange(provoked_, true)) {
        throw std::runtime_error(provoking_text);
      }
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    const auto results = act(action_);
    const auto took = std::chrono::steady_clock::now() - start;
    if (action_ == Action::destroy) tally_.reset();
    observed.change([&](Observed& o) {
      o.acted = true;
      o.destroyed = action_ == Action::destroy;
      o.results = results;
      o.took = took;
    });
    if (action_ == Action::throw_exception) throw std::runtime_error(thrown_text);
  }

  bool await_acted() const {
    return observed.await([](const Observed& o) { return o.acted; });
  }

  Monitor<Observed> observed;

 private:
  Event event_;
  Action action_;
  bool begun_ = false;
  bool provoked_ = false;
  std::weak_ptr<void> sentinel_;
  std::unique_ptr<Tally> tally_ = std::make_unique<Tally>();
};

/// What the other end of the connection sees.
struct PeerSeen {
  int received = 0;
  int disconnected = 0;
};

}  // namespace ntcpmsg::test
