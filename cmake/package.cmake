# What `cmake --install build/<preset>` puts where, below --prefix. Components:
#   runtime        bin/opserve-server, bin/opserve and its scenarios, their manual pages, the licence
#   development    the C++ client: headers, static libraries, find_package(opserve), opserve-client.pc; the .proto files
#   documentation  the pages and the sample of the C++ client
# and acl, the C interface: package_acl.cmake.
# Nothing of it knows the prefix: an installed tree may be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/opserve)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS opserve-server opserve RUNTIME COMPONENT runtime)
install(DIRECTORY client/loadtest/scenarios
  DESTINATION ${CMAKE_INSTALL_DATADIR}/opserve
  COMPONENT runtime
  FILES_MATCHING PATTERN *.yaml)
install(FILES docs/man/opserve.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(FILES docs/man/opserve-server.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# The public headers of the client, and those of core that they include, by paths from the repository's root: in a folder of
# their own, which is an include directory, too.
install(DIRECTORY client/cpp/include/opserve DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
set(core_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/opserve-core)
install(FILES core/base/op_error.h DESTINATION ${core_include_dir}/core/base COMPONENT development)
install(FILES core/tensor/dtype.h core/tensor/half.h core/tensor/shape.h core/tensor/tensor_desc.h
  DESTINATION ${core_include_dir}/core/tensor
  COMPONENT development)

# opserve::client is for others; the rest is there because static libraries need it.
target_compile_features(opserve_client INTERFACE cxx_std_20)
foreach(library client proto tensor base)
  set_target_properties(opserve_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS opserve_${library}
    EXPORT opserve-targets
    ARCHIVE COMPONENT development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${core_include_dir})
endforeach()
install(EXPORT opserve-targets NAMESPACE opserve:: DESTINATION ${package_dir} COMPONENT development)

configure_package_config_file(cmake/opserve-config.cmake.in ${PROJECT_BINARY_DIR}/package/opserve-config.cmake
  INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/opserve-config-version.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/package/opserve-config.cmake ${PROJECT_BINARY_DIR}/package/opserve-config-version.cmake
  DESTINATION ${package_dir}
  COMPONENT development)

file(RELATIVE_PATH pc_libdir /${pkgconfig_dir} /${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH pc_includedir /${pkgconfig_dir} /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/opserve-client.pc.in ${PROJECT_BINARY_DIR}/package/opserve-client.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/opserve-client.pc DESTINATION ${pkgconfig_dir} COMPONENT development)

install(DIRECTORY proto/opserve proto/google
  DESTINATION ${CMAKE_INSTALL_DATADIR}/opserve/proto
  COMPONENT development
  FILES_MATCHING PATTERN *.proto)

install(FILES README.md ARCHITECTURE.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation
  FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN site EXCLUDE)
install(DIRECTORY client/cpp/example/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/example COMPONENT documentation)
