# What `cmake --install` puts where of the C interface, with and without gRPC. Components:
#   acl              libopserve_acl.so.N, and CANN's names of it in lib*/opserve/ascend/
#   acl-development  libopserve_acl.so, include/opserve-acl/, find_package(opserve-acl), opserve-acl.pc, and the samples
#   acl-remote       libopserve_acl_remote.so.N, which needs gRPC, and which nobody links
# Nothing of it knows the prefix: an installed tree may be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(acl_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/opserve-acl)
set(acl_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(acl_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/opserve-acl)

set_target_properties(opserve_acl PROPERTIES EXPORT_NAME acl)
install(TARGETS opserve_acl
  EXPORT opserve-acl-targets
  LIBRARY COMPONENT acl NAMELINK_COMPONENT acl-development
  INCLUDES DESTINATION ${acl_include_dir})
if(TARGET opserve_acl_remote)
  install(TARGETS opserve_acl_remote LIBRARY COMPONENT acl-remote NAMELINK_SKIP)
endif()
install(DIRECTORY ${PROJECT_BINARY_DIR}/lib/opserve/ascend
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/opserve
  COMPONENT acl)
install(DIRECTORY client/acl/include/ ${PROJECT_BINARY_DIR}/include/
  DESTINATION ${acl_include_dir}
  COMPONENT acl-development)
install(EXPORT opserve-acl-targets NAMESPACE opserve:: DESTINATION ${acl_package_dir} COMPONENT acl-development)

configure_package_config_file(cmake/opserve-acl-config.cmake.in ${PROJECT_BINARY_DIR}/package/opserve-acl-config.cmake
  INSTALL_DESTINATION ${acl_package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/opserve-acl-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/package/opserve-acl-config.cmake
    ${PROJECT_BINARY_DIR}/package/opserve-acl-config-version.cmake
  DESTINATION ${acl_package_dir}
  COMPONENT acl-development)

file(RELATIVE_PATH acl_pc_libdir /${acl_pkgconfig_dir} /${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH acl_pc_includedir /${acl_pkgconfig_dir} /${acl_include_dir})
configure_file(cmake/opserve-acl.pc.in ${PROJECT_BINARY_DIR}/package/opserve-acl.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/opserve-acl.pc DESTINATION ${acl_pkgconfig_dir} COMPONENT acl-development)

install(DIRECTORY client/acl/samples/
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/acl-samples
  COMPONENT acl-development)
