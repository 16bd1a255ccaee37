# ntcpmsg_enable_warnings(<target>)
#
# Warnings for a target of this project; errors only when this project is the top-level one. Boost
# comes from an imported target, whose headers CMake passes as system headers.
set(NTCPMSG_WARNINGS_AS_ERRORS ${PROJECT_IS_TOP_LEVEL})

function(ntcpmsg_enable_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow)
  if(NTCPMSG_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(NTCPMSG_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Both warn about correct code: the first loses track in instrumented code, the second objects
    # to the fences of Boost.Asio.
    target_compile_options(
      ${target} PRIVATE -Wno-maybe-uninitialized
                        $<$<STREQUAL:${NTCPMSG_SANITIZE},thread>:-Wno-tsan>)
  endif()
endfunction()
