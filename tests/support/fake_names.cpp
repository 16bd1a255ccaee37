#include "fake_names.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace ntcpmsg::test {
namespace {

struct Name {
  std::vector<boost::asio::ip::address> addresses;
  bool blocked = false;
  int waiting = 0;
};

struct Names {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<Name>> known;
};

Names& names() {
  // Never destroyed: a look-up may still wait at the end of the process.
  static Names& all = *new Names;
  return all;
}

std::shared_ptr<Name> find(const std::string& name) {
  const auto found = names().known.find(name);
  return found != names().known.end() ? found->second : nullptr;
}

int numeric(const std::string& address,
            const char* service,
            const addrinfo* hints,
            addrinfo** result) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(address.empty() ? nullptr : address.c_str(), service, hints, result);
}

/// One list of what each address yields.
int look_up(const Name& name, const char* service, const addrinfo* hints, addrinfo** result) {
  addrinfo** end = result;
  *result = nullptr;
  for (const auto& address : name.addresses) {
    if (const int failure = numeric(address.to_string(), service, hints, end)) return failure;
    while (*end != nullptr) end = &(*end)->ai_next;
  }
  return *result != nullptr ? 0 : EAI_NONAME;
}

}  // namespace

FakeName::FakeName(std::string name, std::vector<boost::asio::ip::address> addresses)
    : name_(std::move(name)) {
  const std::lock_guard guard(names().mutex);
  names().known[name_] = std::make_shared<Name>(Name{std::move(addresses)});
}

FakeName::~FakeName() {
  release();
  const std::lock_guard guard(names().mutex);
  names().known.erase(name_);
}

void FakeName::block() {
  const std::lock_guard guard(names().mutex);
  find(name_)->blocked = true;
}

void FakeName::release() {
  const std::lock_guard guard(names().mutex);
  find(name_)->blocked = false;
  names().changed.notify_all();
}

bool FakeName::asked() const {
  const std::lock_guard guard(names().mutex);
  return find(name_)->waiting != 0;
}

}  // namespace ntcpmsg::test

/// In place of the C library's, for this executable.
extern "C" int getaddrinfo(const char* node,
                           const char* service,
                           const addrinfo* hints,
                           addrinfo** result) {
  using namespace ntcpmsg::test;
  std::unique_lock lock(names().mutex);
  const auto name = node != nullptr ? find(node) : nullptr;
  if (!name) {
    lock.unlock();
    return numeric(node != nullptr ? node : "", service, hints, result);
  }
  ++name->waiting;
  names().changed.wait(lock, [&] { return !name->blocked; });
  --name->waiting;
  return look_up(*name, service, hints, result);
}
