#include "ntcpmsg/statistics.hpp"

namespace ntcpmsg {

Statistics& Statistics::operator+=(const Statistics& other) noexcept {
  messages_sent += other.messages_sent;
  messages_received += other.messages_received;
  bytes_sent += other.bytes_sent;
  bytes_received += other.bytes_received;
  writes += other.writes;
  reads += other.reads;
  messages_unsent += other.messages_unsent;
  bytes_queued += other.bytes_queued;
  sessions += other.sessions;
  sessions_total += other.sessions_total;
  cables += other.cables;
  return *this;
}

}  // namespace ntcpmsg
