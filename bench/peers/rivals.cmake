# The peers that show what others reach. Those whose library is not installed are left out.
find_package(PkgConfig QUIET)

# Congestion control for libraries that have no option for it.
add_library(bench_peer_support STATIC peers/default_congestion.cpp peers/raw_socket.cpp)
target_link_libraries(bench_peer_support PUBLIC bench_harness PRIVATE ${CMAKE_DL_LIBS})
ntcpmsg_enable_warnings(bench_peer_support)

ntcpmsg_bench_peer(naive SOURCES peers/naive_peer.cpp LIBRARIES bench_peer_support)
ntcpmsg_bench_peer(asio SOURCES peers/asio_peer.cpp LIBRARIES bench_peer_support Boost::headers)

# ntcpmsg_find_rival(<variable> <name> <pkg-config module>...)
#
# Sets the variable to the library's target, or to nothing.
function(ntcpmsg_find_rival variable name)
  set(${variable} "" PARENT_SCOPE)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(bench_${name} QUIET IMPORTED_TARGET ${ARGN})
  endif()
  if(TARGET PkgConfig::bench_${name})
    set(${variable} PkgConfig::bench_${name} PARENT_SCOPE)
  else()
    message(STATUS "No ${name}: the benchmark goes without it")
  endif()
endfunction()

ntcpmsg_find_rival(zmq_library zmq libzmq)
if(zmq_library)
  ntcpmsg_bench_peer(zmq SOURCES peers/zmq_peer.cpp LIBRARIES bench_peer_support ${zmq_library})
endif()

ntcpmsg_find_rival(nanomsg_library nanomsg nanomsg)
if(nanomsg_library)
  ntcpmsg_bench_peer(nanomsg SOURCES peers/nanomsg_peer.cpp LIBRARIES bench_peer_support
                                                                     ${nanomsg_library})
endif()

find_package(nng CONFIG QUIET)
if(nng_FOUND)
  ntcpmsg_bench_peer(nng SOURCES peers/nng_peer.cpp LIBRARIES bench_peer_support nng::nng)
else()
  message(STATUS "No nng: the benchmark goes without it")
endif()

ntcpmsg_find_rival(nats_library nats libnats)
if(nats_library)
  ntcpmsg_bench_peer(nats SOURCES peers/nats_peer.cpp peers/nats_broker.cpp
                     LIBRARIES bench_peer_support ${nats_library})
endif()

ntcpmsg_find_rival(grpc_library grpc grpc++)
find_package(Protobuf QUIET)
find_program(NTCPMSG_PROTOC protoc)
find_program(NTCPMSG_GRPC_PLUGIN grpc_cpp_plugin)
if(grpc_library AND TARGET protobuf::libprotobuf AND NTCPMSG_PROTOC AND NTCPMSG_GRPC_PLUGIN)
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
  file(MAKE_DIRECTORY "${generated}")
  set(generated_files "${generated}/bench.pb.cc" "${generated}/bench.pb.h"
                      "${generated}/bench.grpc.pb.cc" "${generated}/bench.grpc.pb.h")
  add_custom_command(
    OUTPUT ${generated_files}
    COMMAND
      "${NTCPMSG_PROTOC}" --cpp_out=${generated} --grpc_out=${generated}
      "--plugin=protoc-gen-grpc=${NTCPMSG_GRPC_PLUGIN}" "-I${CMAKE_CURRENT_SOURCE_DIR}/peers"
      bench.proto
    DEPENDS peers/bench.proto
    VERBATIM)
  add_library(bench_proto STATIC ${generated_files})
  target_include_directories(bench_proto SYSTEM PUBLIC "${generated}")
  target_link_libraries(bench_proto PUBLIC ${grpc_library} protobuf::libprotobuf)
  ntcpmsg_bench_peer(grpc SOURCES peers/grpc_peer.cpp peers/grpc_client.cpp peers/grpc_server.cpp
                     LIBRARIES bench_peer_support bench_proto)
endif()
