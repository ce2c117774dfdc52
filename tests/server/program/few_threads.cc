// Preloaded into a program, it lets that have $OPSERVE_TEST_THREADS threads besides its first one
// at a time: one more is refused as the system refuses it.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>

namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

std::atomic<int>& Left() {
  static std::atomic<int> left = [] {
    const char* text = std::getenv("OPSERVE_TEST_THREADS");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return left;
}

struct Counted {
  void* (*run)(void*);
  void* argument;
};

void* RunCounted(void* counted) {
  const Counted copy = *std::unique_ptr<Counted>(static_cast<Counted*>(counted));
  void* result = copy.run(copy.argument);
  ++Left();
  return result;
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) noexcept {
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (--Left() < 0) {
    ++Left();
    return EAGAIN;
  }
  auto counted = std::make_unique<Counted>(Counted{run, argument});
  const int failure = create(thread, attributes, RunCounted, counted.get());
  if (failure == 0) {
    static_cast<void>(counted.release());  // the thread's now
  } else {
    ++Left();
  }
  return failure;
}
