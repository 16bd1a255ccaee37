#include "policy/distribution.hpp"

namespace ntcpmsg::detail {
namespace {

/// Spreads keys that differ in few bits over all buckets (finaliser of MurmurHash3).
std::uint64_t mix(std::uint64_t key) noexcept {
  key = (key ^ key >> 33) * 0xFF51'AFD7'ED55'8CCD;
  key = (key ^ key >> 33) * 0xC4CE'B9FE'1A85'EC53;
  return key ^ key >> 33;
}

}  // namespace

Distribution::Distribution(std::size_t links)
    : links_(links), up_(std::make_unique<std::atomic<bool>[]>(links)), request_link_(links) {
  for (auto& link : key_links_) link.store(nobody, std::memory_order_relaxed);
}

std::optional<std::size_t> Distribution::next_up(std::size_t link) const noexcept {
  for (std::size_t step = 1; step <= links_; ++step) {
    const std::size_t candidate = (link + step) % links_;
    if (is_up(candidate)) return candidate;
  }
  return std::nullopt;
}

std::optional<std::size_t> Distribution::next_for_messages(std::size_t link) const noexcept {
  const auto next = next_up(link);
  return next && *next == request_link() ? next_up(*next) : next;
}

void Distribution::choose_request_link() noexcept {
  const bool enough = up_count() >= least_for_request_link;
  const std::size_t chosen = enough ? *next_up(links_ - 1) : links_;
  request_link_.store(chosen, std::memory_order_relaxed);
  if (current() == chosen) advance(chosen);
}

void Distribution::advance(std::size_t link) noexcept {
  if (const auto next = next_for_messages(link)) {
    current_.compare_exchange_strong(link, *next, std::memory_order_relaxed);
  }
}

std::optional<std::size_t> Distribution::choose(std::uint64_t hash) const noexcept {
  const std::size_t reserved = request_link();
  std::size_t candidates = 0;
  for (std::size_t link = 0; link < links_; ++link) candidates += is_up(link) && link != reserved;
  if (candidates == 0) return std::nullopt;
  auto ahead = static_cast<std::size_t>(hash % candidates);
  std::size_t link = links_ - 1;
  do {
    // Where it ended up if one was lost meanwhile is as good.
    const auto next = next_for_messages(link);
    if (!next) return std::nullopt;
    link = *next;
  } while (ahead-- != 0);
  return link;
}

std::optional<std::size_t> Distribution::for_key(std::uint64_t key) noexcept {
  const std::uint64_t hash = mix(key);
  auto& bucket = key_links_[hash % buckets];
  std::uint16_t link = bucket.load(std::memory_order_acquire);
  if (link != nobody) return link;
  while (const auto chosen = choose(hash / buckets)) {
    link = nobody;
    if (!bucket.compare_exchange_strong(link, static_cast<std::uint16_t>(*chosen))) return link;
    if (up_[*chosen].load()) return chosen;
    // Lost in between, and `take_over` may have looked at this bucket before it was set.
    link = static_cast<std::uint16_t>(*chosen);
    bucket.compare_exchange_strong(link, nobody);
  }
  return std::nullopt;
}

void Distribution::link_up(std::size_t link) noexcept {
  if (up_[link].exchange(true)) return;
  up_count_.fetch_add(1);
  choose_request_link();
}

void Distribution::link_down(std::size_t link) noexcept {
  if (!up_[link].exchange(false)) return;
  up_count_.fetch_sub(1);
  choose_request_link();
}

void Distribution::take_over(std::size_t lost, std::size_t heir) noexcept {
  const auto to = heir < links_ ? static_cast<std::uint16_t>(heir) : nobody;
  for (auto& bucket : key_links_) {
    auto expected = static_cast<std::uint16_t>(lost);
    bucket.compare_exchange_strong(expected, to);
  }
}

}  // namespace ntcpmsg::detail
