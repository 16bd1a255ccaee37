#pragma once

#include <string>
#include <vector>

#include "ntcpmsg/endpoint.hpp"

namespace ntcpmsg::test {

/// Until it is destroyed, the name resolves to these addresses, in this order; to nothing when
/// there are none. An executable that links this resolves all other names as usual.
class FakeName {
 public:
  FakeName(std::string name, std::vector<boost::asio::ip::address> addresses);
  ~FakeName();
  FakeName(const FakeName&) = delete;
  FakeName& operator=(const FakeName&) = delete;

  /// From now on look-ups of the name wait until `release` or destruction.
  void block();
  void release();
  /// True while somebody waits.
  bool asked() const;

 private:
  std::string name_;
};

}  // namespace ntcpmsg::test
