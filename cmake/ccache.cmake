# Compiles through ccache when it is installed. A launcher chosen by the user wins.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(NTCPMSG_CCACHE ccache)
  mark_as_advanced(NTCPMSG_CCACHE)
  if(NTCPMSG_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${NTCPMSG_CCACHE}")
  endif()
endif()
