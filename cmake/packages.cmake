# The packages opserve is built from. Debian 12's versions are the floor; newer ones are accepted.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(hwy CONFIG REQUIRED)
find_package(TBB CONFIG REQUIRED)

if(OPSERVE_SERVER)
  # Debian 12's Protobuf has no package file of its own; newer ones have, and need it for their dependencies.
  set(protobuf_MODULE_COMPATIBLE ON)
  find_package(Protobuf CONFIG QUIET)
  if(NOT Protobuf_FOUND)
    find_package(Protobuf MODULE REQUIRED)
  endif()
  find_package(gRPC CONFIG REQUIRED)
  find_package(CLI11 CONFIG REQUIRED)
  find_package(yaml-cpp CONFIG REQUIRED)
endif()
if(OPSERVE_SERVER OR OPSERVE_TESTS)
  find_package(nlohmann_json CONFIG REQUIRED)
endif()

if(OPSERVE_TESTS OR OPSERVE_FUZZ OR OPSERVE_BENCH)
  find_package(GTest CONFIG REQUIRED)
endif()
if(OPSERVE_BENCH)
  find_package(benchmark CONFIG REQUIRED)
endif()
