// gRPC: streams and calls with one field of bytes, see bench.proto.

#include "peers/grpc_client.hpp"
#include "peers/grpc_server.hpp"
#include "peers/peer_support.hpp"

int main(int argc, char** argv) {
  return bench::peer_main<bench::GrpcServer, bench::GrpcClient>(argc, argv, "grpc");
}
