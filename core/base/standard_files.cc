#include "core/base/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

namespace opserve {

// Nothing is constructed yet: system calls alone.
void OpenStandardFiles() {
  for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard) {
    if (::fcntl(standard, F_GETFD) >= 0) continue;
    // The lowest that is free, which is this one: those below are open by now.
    if (::open("/dev/null", O_RDWR) != standard) ::_exit(1);
  }
}

}  // namespace opserve
