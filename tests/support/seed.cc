#include "tests/support/seed.h"

#include <cstdio>
#include <cstdlib>

namespace opserve::testing {

uint64_t TestSeed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("OPSERVE_TEST_SEED");
    const uint64_t value =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::fprintf(stderr, "OPSERVE_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

Rng MakeRng(uint64_t stream) {
  std::seed_seq sequence{TestSeed(), stream};
  return Rng(sequence);
}

}  // namespace opserve::testing
