# NTCPMSG_SANITIZE builds everything below this directory with a sanitizer:
#   address   AddressSanitizer and UndefinedBehaviorSanitizer
#   thread    ThreadSanitizer
# A project that adds ntcpmsg as a subdirectory has to pass the same flags to its own targets;
# they are in NTCPMSG_SANITIZE_FLAGS.
set(NTCPMSG_SANITIZE "" CACHE STRING "Sanitizer: empty, address or thread")
set_property(CACHE NTCPMSG_SANITIZE PROPERTY STRINGS "" address thread)

set(NTCPMSG_SANITIZE_FLAGS "")
if(NTCPMSG_SANITIZE STREQUAL "address")
  set(NTCPMSG_SANITIZE_FLAGS -fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # clang 14 cannot link coroutines with this check.
    list(APPEND NTCPMSG_SANITIZE_FLAGS -fno-sanitize=function)
  endif()
elseif(NTCPMSG_SANITIZE STREQUAL "thread")
  set(NTCPMSG_SANITIZE_FLAGS -fsanitize=thread)
elseif(NOT NTCPMSG_SANITIZE STREQUAL "")
  message(FATAL_ERROR "NTCPMSG_SANITIZE is '${NTCPMSG_SANITIZE}', not empty, address or thread")
endif()

if(NTCPMSG_SANITIZE_FLAGS)
  list(APPEND NTCPMSG_SANITIZE_FLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${NTCPMSG_SANITIZE_FLAGS})
  add_link_options(${NTCPMSG_SANITIZE_FLAGS})
endif()
