// A client that keeps calls on shared memory running until the server has gone: for tests that kill
// it, or the server. Usage: shared_memory_noise TARGET. It says "running" once a call succeeded.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <opserve/client.h>
#include <opserve/shared_memory.h>

namespace opserve::testing {
namespace {

constexpr int64_t kCount = 1 << 20;
constexpr int64_t kBytes = kCount * 4;
constexpr int64_t kThreads = 3;

void Work(const client::Client& server, const client::SharedMemory& memory, int64_t thread,
          std::atomic<bool>& running) {
  const auto part = [&](int64_t index) {
    return memory.View(DType::kFloat32, {kCount}, index * kBytes);
  };
  client::Call call("SmoothL1LossBackward");
  call.Input("grad_out", part(0)).Input("self", part(1)).Input("target", part(2));
  call.Output("grad_input", part(3 + thread)).Attribute("reduction", 0).Attribute("beta", 1.0);
  while (server.Execute(call).ok()) {
    if (!running.exchange(true)) std::puts("running");
    std::fflush(stdout);
  }
}

int Main(const char* target) {
  const absl::StatusOr<client::Client> server = client::Client::Connect(target);
  if (!server.ok()) return 1;
  const absl::StatusOr<client::SharedMemory> memory =
      server->CreateSharedMemory((3 + kThreads) * kBytes);
  if (!memory.ok()) return 1;
  std::atomic<bool> running = false;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int64_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] { Work(*server, *memory, i, running); });
  for (std::thread& thread : threads) thread.join();
  // What the server left is the client's own.
  int sum = 0;
  for (size_t i = 0; i < memory->bytes().size(); i += 4096)
    sum += std::to_integer<int>(memory->bytes()[i]);
  memory->bytes().back() = std::byte{1};
  return running && sum >= 0 ? 0 : 1;
}

}  // namespace
}  // namespace opserve::testing

int main(int argc, char** argv) { return argc == 2 ? opserve::testing::Main(argv[1]) : 2; }
