#include "peers/nats_broker.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "peers/peer_support.hpp"

namespace bench {

NatsBroker::NatsBroker(const std::string& host) : host_(host), port_(find_free_port(host)) {
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have gone before that.
    if (::getppid() == parent) start();
    std::_Exit(127);
  }
  await_ready();
}

NatsBroker::~NatsBroker() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

void NatsBroker::start() const {
  // The count of system calls is that of our own processes.
  ::unsetenv("LD_PRELOAD");
  // Whoever reads what the server prints must not wait for the broker.
  const int null = ::open("/dev/null", O_RDWR);
  for (int descriptor = 0; descriptor <= 2; ++descriptor) ::dup2(null, descriptor);
  const std::string port = std::to_string(port_);
  ::execlp("nats-server", "nats-server", "-a", host_.c_str(), "-p", port.c_str(), nullptr);
  // Not every user's path has it.
  ::execl("/usr/sbin/nats-server", "nats-server", "-a", host_.c_str(), "-p", port.c_str(), nullptr);
}

void NatsBroker::await_ready() const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    if (::waitpid(child_, nullptr, WNOHANG) != 0) {
      throw std::runtime_error("nats-server did not start");
    }
    try {
      RawSocket::connected(host_, port_, "");
      return;
    } catch (const std::system_error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  throw std::runtime_error("nats-server does not accept");
}

double NatsBroker::cpu_seconds() const {
  std::ifstream file("/proc/" + std::to_string(child_) + "/stat");
  std::string line;
  std::getline(file, line);
  // The name in parentheses may contain anything; user and system time are fields 14 and 15.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace bench
