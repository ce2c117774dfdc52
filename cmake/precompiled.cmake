# With OPSERVE_PRECOMPILE: headers of libraries that most sources include are parsed once, and not in every source. That changes
# nothing else, so a source includes what it uses; the preset `alone` finds what is missing. What clang parsed names the folder of
# the build, so for sources that use it ccache shares nothing between clones.

include_guard(GLOBAL)

if(NOT OPSERVE_PRECOMPILE)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "OPSERVE_PRECOMPILE needs clang, got ${CMAKE_CXX_COMPILER_ID}")
endif()

set(headers
  <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <deque> <filesystem> <fstream> <functional> <limits> <map>
  <memory> <optional> <random> <span> <sstream> <string> <string_view> <thread> <utility> <variant> <vector>
  <absl/container/flat_hash_map.h> <absl/container/inlined_vector.h> <absl/functional/any_invocable.h>
  <absl/functional/function_ref.h> <absl/status/statusor.h> <absl/strings/str_cat.h> <absl/strings/str_format.h>
  <absl/strings/str_join.h> <absl/strings/str_split.h> <absl/synchronization/mutex.h> <absl/time/clock.h>)
if(OPSERVE_TESTS)
  list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
endif()
if(OPSERVE_SERVER)
  list(APPEND headers <google/protobuf/generated_message_reflection.h> <google/protobuf/text_format.h> <grpcpp/grpcpp.h>)
endif()

# Parsed headers fit only one kind of code, so programs get that of libraries, and all know threads.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})
add_compile_options(-pthread)

# They fit only one level of optimization, too: opserve_headers has that of the build type, opserve_busy_headers that of what is busy.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers/empty.cc CONTENT "")
foreach(busy OFF ON)
  set(target ${OPSERVE_HEADERS_${busy}})
  add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/headers/empty.cc)
  set_target_properties(${target} PROPERTIES OPSERVE_IS_TEST OFF OPSERVE_IS_BUSY ${busy})
  target_link_libraries(${target} PRIVATE opserve_own_code $<TARGET_NAME_IF_EXISTS:GTest::gmock>)
  # Without the time, so that ccache knows the same headers again.
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(${target} PRIVATE ${headers})
endforeach()
