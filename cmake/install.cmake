# Install rules: headers, libraries, the CMake package and the pkg-config file. Both package files
# find the rest relative to themselves, so that the installed tree can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(NTCPMSG_CMAKE_MODULES "${CMAKE_CURRENT_LIST_DIR}")
set(NTCPMSG_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/ntcpmsg")

# ntcpmsg_install_target(<target> [<include directory>])
#
# Installs a library and adds it to the package as ntcpmsg::<export name>. The include directory,
# relative to the directory of the target, is "include" unless given. The target has to name it as
# $<BUILD_INTERFACE:...> in its include directories.
function(ntcpmsg_install_target target)
  if(NOT NTCPMSG_INSTALL)
    return()
  endif()
  set(include_dir "${ARGV1}")
  if(NOT include_dir)
    set(include_dir include)
  endif()
  get_target_property(source_dir ${target} SOURCE_DIR)

  install(
    TARGETS ${target}
    EXPORT ntcpmsg-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(
    DIRECTORY "${source_dir}/${include_dir}/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING
    PATTERN "*.hpp")
endfunction()

# ntcpmsg_install_package()
#
# Installs the CMake package and the pkg-config file. Called once.
function(ntcpmsg_install_package)
  install(
    EXPORT ntcpmsg-targets
    NAMESPACE ntcpmsg::
    DESTINATION "${NTCPMSG_INSTALL_CMAKEDIR}")

  configure_package_config_file(
    "${NTCPMSG_CMAKE_MODULES}/ntcpmsg-config.cmake.in" "${PROJECT_BINARY_DIR}/ntcpmsg-config.cmake"
    INSTALL_DESTINATION "${NTCPMSG_INSTALL_CMAKEDIR}"
    NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/ntcpmsg-config-version.cmake"
    VERSION "${PROJECT_VERSION}"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/ntcpmsg-config.cmake"
                "${PROJECT_BINARY_DIR}/ntcpmsg-config-version.cmake"
          DESTINATION "${NTCPMSG_INSTALL_CMAKEDIR}")

  # From the directory of the .pc file up to the prefix, whatever the library directory is called.
  set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH NTCPMSG_PC_TO_PREFIX "/prefix/${pkgconfig_dir}" "/prefix")
  string(REGEX REPLACE "/$" "" NTCPMSG_PC_TO_PREFIX "${NTCPMSG_PC_TO_PREFIX}")
  configure_file("${NTCPMSG_CMAKE_MODULES}/ntcpmsg.pc.in" "${PROJECT_BINARY_DIR}/ntcpmsg.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/ntcpmsg.pc" DESTINATION "${pkgconfig_dir}")
endfunction()
