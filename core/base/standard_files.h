// The descriptors 0, 1 and 2.
#pragma once

namespace opserve {

// Opens /dev/null for each of them that is closed. Otherwise a file or socket that is opened later
// could get its number, and would be used as standard input or output. Ends the process with
// status 1 if that fails.
void OpenStandardFiles();

}  // namespace opserve

// In a program's main.cc: the above, before the constructors of the libraries that it loads. (One
// of gRPC's makes a descriptor.)
#define OPSERVE_OPEN_STANDARD_FILES_FIRST()                                                    \
  [[gnu::section(".preinit_array"), gnu::used]] static void (*opserve_open_standard_files)() = \
      ::opserve::OpenStandardFiles
