// The descriptors 0, 1 and 2.
#pragma once

namespace opserve {

// Opens /dev/null for each of them that is closed, so that no file or socket which is opened later
// takes its number and is then read from, or written to, as standard input or output. Ends the
// process with status 1 where it cannot.
void OpenStandardFiles();

}  // namespace opserve

// In a program's main.cc: the above, before the constructors of the libraries that it loads. (One
// of gRPC's makes a descriptor.)
#define OPSERVE_OPEN_STANDARD_FILES_FIRST()                                                    \
  [[gnu::section(".preinit_array"), gnu::used]] static void (*opserve_open_standard_files)() = \
      ::opserve::OpenStandardFiles
