#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "ntcpmsg/endpoint.hpp"
#include "session/session.hpp"
#include "wire/hello.hpp"

namespace ntcpmsg::detail {

/// The sessions of a listener and the cables they form. Thread-safe; calls nobody.
///
/// A cable id is free again when none of its connections is left and no connection that wrote it
/// into its frames either, and is given out last of all ids, so that messages of its old holder
/// still on their way are not taken for another's.
class Registry {
 public:
  using SessionPtr = std::shared_ptr<Session>;

  struct Cable {
    std::uint16_t id = 0;
    std::optional<CableToken> token;
  };

  void add(SessionPtr session);
  /// False when it was not there.
  bool remove(const Session& session);

  SessionPtr find(const Endpoint& remote) const;
  /// The first connection of the cable that lives.
  SessionPtr find(std::uint16_t cable_id) const;
  struct Snapshot {
    std::vector<SessionPtr> sessions;
    /// One session for each cable, and all that belong to none.
    std::vector<SessionPtr> peers;
  };
  /// Made anew only after a change, so that a broadcast costs little more than what it sends.
  std::shared_ptr<const Snapshot> snapshot() const;
  std::vector<std::uint16_t> cable_ids() const;
  std::size_t size() const;
  std::size_t cables() const;

  /// Makes a cable of which the session is the first; the one it already belongs to, if any. An id
  /// of 0 tells that none is free.
  Cable create_cable(Session& session, const std::optional<CableToken>& token);
  /// Binds the session to the cable with this token; empty when there is none.
  std::optional<Cable> join_cable(Session& session, const CableToken& token);
  /// A session of an original cable wrote this id into a frame.
  void note_claim(const Session& session, std::uint16_t cable_id);

 private:
  struct Bound {
    std::optional<CableToken> token;
    std::vector<SessionPtr> members;
    std::set<std::uint64_t> claimants;
  };

  std::uint16_t free_id();
  void forget_if_unused(std::map<std::uint16_t, Bound>::iterator cable);
  Cable bind(std::uint16_t id, Session& session);

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, SessionPtr> sessions_;
  std::map<Endpoint, SessionPtr> by_endpoint_;
  std::map<std::uint16_t, Bound> cables_;
  std::unordered_map<std::uint64_t, std::set<std::uint16_t>> claims_;
  std::uint16_t last_id_ = 0;
  /// Null after a change.
  mutable std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace ntcpmsg::detail
