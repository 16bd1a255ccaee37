#include "policy/registry.hpp"

#include <algorithm>
#include <utility>

namespace ntcpmsg::detail {
namespace {

// 0 means no cable; the original never gives 65535 either.
constexpr std::uint16_t last_cable_id = 65'534;

}  // namespace

void Registry::add(SessionPtr session) {
  const std::lock_guard guard(mutex_);
  by_endpoint_[session->remote_endpoint()] = session;
  const std::uint64_t id = session->id();
  snapshot_.reset();
  sessions_.emplace(id, std::move(session));
}

bool Registry::remove(const Session& session) {
  const std::lock_guard guard(mutex_);
  const auto found = sessions_.find(session.id());
  if (found == sessions_.end()) return false;
  snapshot_.reset();
  const auto by_endpoint = by_endpoint_.find(session.remote_endpoint());
  if (by_endpoint != by_endpoint_.end() && by_endpoint->second == found->second) {
    by_endpoint_.erase(by_endpoint);
  }
  const auto cable = cables_.find(session.cable_id());
  if (cable != cables_.end()) {
    std::erase(cable->second.members, found->second);
    forget_if_unused(cable);
  }
  if (const auto claims = claims_.find(session.id()); claims != claims_.end()) {
    for (const std::uint16_t id : claims->second) {
      const auto claimed = cables_.find(id);
      if (claimed == cables_.end()) continue;
      claimed->second.claimants.erase(session.id());
      forget_if_unused(claimed);
    }
    claims_.erase(claims);
  }
  sessions_.erase(found);
  return true;
}

void Registry::forget_if_unused(std::map<std::uint16_t, Bound>::iterator cable) {
  if (cable->second.members.empty() && cable->second.claimants.empty()) cables_.erase(cable);
}

Registry::SessionPtr Registry::find(const Endpoint& remote) const {
  const std::lock_guard guard(mutex_);
  const auto found = by_endpoint_.find(remote);
  return found != by_endpoint_.end() ? found->second : nullptr;
}

Registry::SessionPtr Registry::find(std::uint16_t cable_id) const {
  const std::lock_guard guard(mutex_);
  const auto found = cables_.find(cable_id);
  if (found == cables_.end() || found->second.members.empty()) return nullptr;
  return found->second.members.front();
}

std::shared_ptr<const Registry::Snapshot> Registry::snapshot() const {
  const std::lock_guard guard(mutex_);
  if (snapshot_) return snapshot_;
  Snapshot made;
  made.sessions.reserve(sessions_.size());
  for (const auto& [id, cable] : cables_) {
    if (!cable.members.empty()) made.peers.push_back(cable.members.front());
  }
  for (const auto& [id, session] : sessions_) {
    made.sessions.push_back(session);
    if (session->cable_id() == 0 && !claims_.contains(id)) made.peers.push_back(session);
  }
  snapshot_ = std::make_shared<const Snapshot>(std::move(made));
  return snapshot_;
}

std::vector<std::uint16_t> Registry::cable_ids() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::uint16_t> ids;
  for (const auto& [id, cable] : cables_) {
    if (!cable.members.empty()) ids.push_back(id);
  }
  return ids;
}

std::size_t Registry::size() const {
  const std::lock_guard guard(mutex_);
  return sessions_.size();
}

std::size_t Registry::cables() const { return cable_ids().size(); }

std::uint16_t Registry::free_id() {
  for (std::uint32_t tries = 0; tries < last_cable_id; ++tries) {
    last_id_ =
        last_id_ == last_cable_id ? std::uint16_t{1} : static_cast<std::uint16_t>(last_id_ + 1);
    if (!cables_.contains(last_id_)) return last_id_;
  }
  return 0;
}

Registry::Cable Registry::bind(std::uint16_t id, Session& session) {
  snapshot_.reset();
  Bound& cable = cables_[id];
  const auto self = session.shared_from_this();
  if (std::ranges::find(cable.members, self) == cable.members.end()) cable.members.push_back(self);
  session.set_cable_id(id);
  return {id, cable.token};
}

Registry::Cable Registry::create_cable(Session& session, const std::optional<CableToken>& token) {
  const std::lock_guard guard(mutex_);
  if (const std::uint16_t bound = session.cable_id(); bound != 0) {
    return {bound, cables_[bound].token};
  }
  const std::uint16_t id = free_id();
  if (id == 0) return {};
  cables_[id].token = token;
  return bind(id, session);
}

std::optional<Registry::Cable> Registry::join_cable(Session& session, const CableToken& token) {
  const std::lock_guard guard(mutex_);
  for (auto& [id, cable] : cables_) {
    if (cable.token != token || cable.members.empty()) continue;
    if (session.cable_id() != 0 && session.cable_id() != id) return std::nullopt;
    return bind(id, session);
  }
  return std::nullopt;
}

void Registry::note_claim(const Session& session, std::uint16_t cable_id) {
  const std::lock_guard guard(mutex_);
  const auto cable = cables_.find(cable_id);
  if (cable == cables_.end() || !sessions_.contains(session.id())) return;
  snapshot_.reset();
  cable->second.claimants.insert(session.id());
  claims_[session.id()].insert(cable_id);
}

}  // namespace ntcpmsg::detail
