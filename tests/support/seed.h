// Random tests print their seed and take it back from the environment.
#pragma once

#include <cstdint>
#include <random>

namespace opserve::testing {

using Rng = std::mt19937_64;

// OPSERVE_TEST_SEED, or a fresh one a process; printed the first time.
uint64_t TestSeed();

// A generator of its own for `stream`, so that tests do not depend on each other's order.
Rng MakeRng(uint64_t stream);

}  // namespace opserve::testing
