# What makes a mistake in memory harder to exploit, in programs, shared libraries and generated code of every build type,
# also where somebody packages opserve with other flags. tests/hardening reads the results.

include_guard(GLOBAL)
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

# Programs that can lie anywhere: with CMAKE_POSITION_INDEPENDENT_CODE, now for linking, too.
check_pie_supported(OUTPUT_VARIABLE pie_output LANGUAGES CXX)
if(NOT CMAKE_CXX_LINK_PIE_SUPPORTED)
  message(WARNING "Programs are linked without PIE: ${pie_output}")
endif()

# Sanitizers find the same mistakes sooner; with these flags beside theirs a build takes a third longer.
if(NOT OPSERVE_SANITIZE)
  # Those that this compiler knows for this processor.
  set(CMAKE_REQUIRED_FLAGS -Werror)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "OPSERVE_HAS${flag}" is_known)
    check_cxx_compiler_flag(${flag} ${is_known})
    if(${is_known})
      add_compile_options(${flag})
    endif()
  endforeach()
  unset(CMAKE_REQUIRED_FLAGS)

  # libc's checks need optimization. Level 3 is 2 where libc knows no 3.
  set(optimized $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  add_compile_options($<${optimized}:-U_FORTIFY_SOURCE> $<${optimized}:-D_FORTIFY_SOURCE=3>)
else()
  # A tenth of the time that such a program takes to start is for its relocations, and tests start thousands.
  set(CMAKE_CXX_LINK_OPTIONS_PIE -no-pie)
endif()

# An index out of bounds ends the process. What that costs was not to be told from noise: docs/performance.md.
add_compile_definitions(_GLIBCXX_ASSERTIONS)

# What the loader relocates is read-only before main; no stack is executable.
add_link_options(-Wl,-z,relro,-z,now -Wl,-z,noexecstack)
