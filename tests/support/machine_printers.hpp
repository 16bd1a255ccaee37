#pragma once

// How the events and actions of the machines read in the messages of failed expectations.

#include <ostream>

#include "batch/write_machine.hpp"
#include "policy/cable_machine.hpp"
#include "policy/reconnect_machine.hpp"
#include "session/hello_machine.hpp"

namespace ntcpmsg::detail {

inline std::ostream& operator<<(std::ostream& out, WriteMachine::State state) {
  switch (state) {
    case WriteMachine::State::offline: return out << "offline";
    case WriteMachine::State::idle: return out << "idle";
    case WriteMachine::State::scheduled: return out << "scheduled";
    case WriteMachine::State::writing: return out << "writing";
    case WriteMachine::State::armed: return out << "armed";
  }
  return out << "state " << static_cast<int>(state);
}

inline std::ostream& operator<<(std::ostream& out, WriteMachine::Action action) {
  switch (action) {
    case WriteMachine::Action::none: return out << "none";
    case WriteMachine::Action::write: return out << "write";
    case WriteMachine::Action::schedule: return out << "schedule";
    case WriteMachine::Action::schedule_delayed: return out << "schedule_delayed";
    case WriteMachine::Action::wait_writable: return out << "wait_writable";
  }
  return out << "action " << static_cast<int>(action);
}

inline std::ostream& operator<<(std::ostream& out, HelloMachine::Action action) {
  switch (action) {
    case HelloMachine::Action::none: return out << "none";
    case HelloMachine::Action::send: return out << "send";
    case HelloMachine::Action::agreed: return out << "agreed";
    case HelloMachine::Action::plain: return out << "plain";
  }
  return out << "action " << static_cast<int>(action);
}

inline std::ostream& operator<<(std::ostream& out, CableMachine::Action action) {
  switch (action) {
    case CableMachine::Action::none: return out << "none";
    case CableMachine::Action::accept: return out << "accept";
    case CableMachine::Action::request_id: return out << "request_id";
    case CableMachine::Action::reject: return out << "reject";
  }
  return out << "action " << static_cast<int>(action);
}

inline std::ostream& operator<<(std::ostream& out, ReconnectMachine::State state) {
  switch (state) {
    case ReconnectMachine::State::stopped: return out << "stopped";
    case ReconnectMachine::State::resolving: return out << "resolving";
    case ReconnectMachine::State::connecting: return out << "connecting";
    case ReconnectMachine::State::negotiating: return out << "negotiating";
    case ReconnectMachine::State::up: return out << "up";
    case ReconnectMachine::State::waiting: return out << "waiting";
  }
  return out << "state " << static_cast<int>(state);
}

inline std::ostream& operator<<(std::ostream& out, const ReconnectMachine::Action& action) {
  switch (action.kind) {
    case ReconnectMachine::Action::Kind::none: return out << "none";
    case ReconnectMachine::Action::Kind::resolve: return out << "resolve";
    case ReconnectMachine::Action::Kind::connect:
      return out << "connect to address " << action.address;
    case ReconnectMachine::Action::Kind::negotiate: return out << "negotiate";
    case ReconnectMachine::Action::Kind::wait:
      return out << "wait " << action.wait.count() << " ms";
    case ReconnectMachine::Action::Kind::give_up: return out << "give up";
  }
  return out << "action " << static_cast<int>(action.kind);
}

}  // namespace ntcpmsg::detail
