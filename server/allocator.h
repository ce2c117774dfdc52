// How malloc treats what is freed.
#pragma once

namespace opserve::server {

// No thread pays for what others freed. Keeps freed memory, up to a bound, instead of giving it
// back to the system: a message's buffers are as large as the next one's, and a page that was given
// back costs a fault when it is needed again. Shares arenas among threads, so that the bound is one
// for each core. Measured with tests/bench/e2e (--freed-memory). Once a process, early.
void SetUpMalloc();

}  // namespace opserve::server
