# Debian packages, made by `cpack -G DEB` (scripts/package): opserve-server, opserve-client, libopserve-dev,
# libopserve-acl0, libopserve-acl-remote, libopserve-acl-dev, opserve-doc. Each is a group of components: those of package.cmake and package_acl.cmake, and one of its own
# (deb-…) for what only a package has. Those of their own are left out of `cmake --install` without --component.
# With SOURCE_DATE_EPOCH in the environment the same build makes the same bytes.

set(OPSERVE_DEB_MAINTAINER "opserve maintainers <opserve@example.org>" CACHE STRING "Who makes these packages: Name <address>")
set(debian_dir ${PROJECT_SOURCE_DIR}/deploy/debian)

# opserve_debian_gzip(FILE NAME): the file as packages hold it, package/NAME of the build: by gzip, without the time.
function(opserve_debian_gzip file name)
  find_program(OPSERVE_GZIP gzip)
  if(NOT OPSERVE_GZIP)
    return()
  endif()
  execute_process(COMMAND ${OPSERVE_GZIP} -9 -n -c ${file}
    OUTPUT_FILE ${PROJECT_BINARY_DIR}/package/${name}
    COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()

# opserve_debian_package(GROUP NAME COMPONENTS component... DEPENDS package... DESCRIPTION text...)
function(opserve_debian_package group name)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "COMPONENTS;DEPENDS;DESCRIPTION")
  install(FILES ${debian_dir}/copyright ${PROJECT_BINARY_DIR}/package/changelog.Debian.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
    COMPONENT deb-${group}
    EXCLUDE_FROM_ALL)
  string(TOUPPER ${group} upper)
  foreach(component IN LISTS ARG_COMPONENTS ITEMS deb-${group})
    string(TOUPPER ${component} upper_component)
    set(CPACK_COMPONENT_${upper_component}_GROUP ${group} PARENT_SCOPE)
  endforeach()
  list(JOIN ARG_DESCRIPTION "\n" description)
  list(JOIN ARG_DEPENDS ", " depends)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${ARG_COMPONENTS} deb-${group} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
endfunction()

# What the packages of the two programs hold; `runtime` is both in one.
install(TARGETS opserve-server RUNTIME COMPONENT deb-server EXCLUDE_FROM_ALL)
install(TARGETS opserve RUNTIME COMPONENT deb-client EXCLUDE_FROM_ALL)
install(DIRECTORY client/loadtest/scenarios
  DESTINATION ${CMAKE_INSTALL_DATADIR}/opserve
  COMPONENT deb-client
  EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN *.yaml)
install(DIRECTORY deploy DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT deb-doc EXCLUDE_FROM_ALL
  PATTERN debian EXCLUDE
  PATTERN container EXCLUDE)
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT deb-doc EXCLUDE_FROM_ALL)

# install_manual(PAGE SECTION COMPONENT)
function(install_manual page section component)
  opserve_debian_gzip(${PROJECT_SOURCE_DIR}/docs/man/${page}.${section} ${page}.${section}.gz)
  install(FILES ${PROJECT_BINARY_DIR}/package/${page}.${section}.gz
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
install_manual(opserve-server 8 deb-server)
install_manual(opserve 1 deb-client)

file(READ deploy/systemd/opserve.service unit)
string(REPLACE /usr/local/bin/ /usr/bin/ unit "${unit}")
file(CONFIGURE OUTPUT package/opserve.service CONTENT "${unit}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS deploy/systemd/opserve.service)
install(FILES ${PROJECT_BINARY_DIR}/package/opserve.service
  DESTINATION /lib/systemd/system COMPONENT deb-server EXCLUDE_FROM_ALL)
install(FILES ${debian_dir}/opserve.default
  DESTINATION /etc/default RENAME opserve COMPONENT deb-server EXCLUDE_FROM_ALL)

opserve_debian_gzip(${debian_dir}/changelog changelog.Debian.gz)
set(CPACK_COMPONENTS_ALL)
opserve_debian_package(server opserve-server
  DEPENDS adduser "init-system-helpers (>= 1.54~)"
  DESCRIPTION
    "server of operator gradients over gRPC"
    "Holds this machine's devices and computes losses, activations, norms,"
    "products and pools, and their gradients, for clients in any language. Runs"
    "as the service opserve, on localhost unless /etc/default/opserve says"
    "otherwise.")
opserve_debian_package(client opserve-client
  DESCRIPTION
    "command that calls and loads a server of operator gradients"
    "Runs operators of an opserve server, tells what it offers and what it"
    "does, and measures it under load.")
opserve_debian_package(dev libopserve-dev
  COMPONENTS development
  DEPENDS libgrpc++-dev libprotobuf-dev libabsl-dev
  DESCRIPTION
    "C++ client of servers of operator gradients (development files)"
    "Headers and static libraries for C++20 programs that call an opserve"
    "server, with files for CMake and pkg-config, and the protocol's .proto"
    "files.")
# Those of one version of opserve go together: the two libraries speak to each other by an interface of their own.
set(this_version "(= ${PROJECT_VERSION}-1)")
opserve_debian_package(libacl libopserve-acl${PROJECT_VERSION_MAJOR}
  COMPONENTS acl
  DESCRIPTION
    "AscendCL and aclnn operators without an NPU (shared library)"
    "The C interface of CANN's runtime and operators on this machine's cores."
    "With libopserve-acl-remote its devices may be those of an opserve server.")
opserve_debian_package(libacl-remote libopserve-acl-remote
  COMPONENTS acl-remote
  DEPENDS "libopserve-acl${PROJECT_VERSION_MAJOR} ${this_version}"
  DESCRIPTION
    "AscendCL and aclnn operators without an NPU (devices of a server)"
    "What the C interface of CANN's runtime and operators opens where"
    "OPSERVE_TARGET names an opserve server, to use its devices.")
opserve_debian_package(libacl-dev libopserve-acl-dev
  COMPONENTS acl-development
  DEPENDS "libopserve-acl${PROJECT_VERSION_MAJOR} ${this_version}"
  DESCRIPTION
    "AscendCL and aclnn operators without an NPU (development files)"
    "Headers of the C interface, with CANN's names, files for CMake and"
    "pkg-config, and samples.")
opserve_debian_package(doc opserve-doc
  COMPONENTS documentation
  DESCRIPTION
    "server of operator gradients (documentation)"
    "The pages of opserve, samples, and what deploying it takes: a proxy,"
    "dashboards, a chart.")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME opserve)
set(CPACK_PACKAGE_VENDOR opserve)
set(CPACK_PACKAGE_CONTACT "${OPSERVE_DEB_MAINTAINER}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE opserve)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBACL_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBACL-REMOTE_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBACL-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBACL-DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBACL_PACKAGE_SUGGESTS libopserve-acl-remote)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_LIBACL_PACKAGE_CONTROL_EXTRA ${debian_dir}/triggers)
set(CPACK_DEBIAN_LIBACL-REMOTE_PACKAGE_CONTROL_EXTRA ${debian_dir}/triggers)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_CLIENT_PACKAGE_SECTION net)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
  ${debian_dir}/conffiles ${debian_dir}/postinst ${debian_dir}/prerm ${debian_dir}/postrm)
include(CPack)
