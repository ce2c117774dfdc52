#include "server/make_engine.h"

#include <unistd.h>

#include <future>
#include <utility>

#include "absl/time/time.h"
#include "core/base/thread.h"

namespace opserve::server {
namespace {

constexpr int kNicer = 5;

absl::Duration CallTimeOf(const ClientConfig& clients) {
  const bool is_bounded = clients.max_call_time > absl::ZeroDuration();
  return is_bounded ? clients.max_call_time : absl::InfiniteDuration();
}

EngineOptions OptionsOf(const ServerConfig& config) {
  return {.devices = config.devices,
          .ascend_library_paths = config.ascend_library_paths,
          .memory_limit_bytes = config.memory_limit_bytes,
          .client_share = config.clients.share,
          .admission = config.admission,
          .calls = {.max_time = CallTimeOf(config.clients),
                    .max_program_steps = config.clients.max_program_steps}};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const ServerConfig& config) {
  std::packaged_task<absl::StatusOr<std::unique_ptr<Engine>>()> make([&config] {
    // Of this thread and those that it starts. Where it is refused, they are as all others.
    [[maybe_unused]] const int priority = ::nice(kNicer);
    return Engine::Create(OptionsOf(config));
  });
  std::future<absl::StatusOr<std::unique_ptr<Engine>>> made = make.get_future();
  StartThread("the thread that makes the engine", std::move(make)).join();
  return made.get();
}

}  // namespace opserve::server
