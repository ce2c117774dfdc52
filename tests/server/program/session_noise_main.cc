// A client that makes random sessions until it is killed: session_noise ADDRESS SEED
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "tests/fuzz/session_script.h"
#include "tests/server/session_client.h"

namespace opserve::testing {
namespace {

// One session. It may well block, as a client that does not read does.
void MakeNoise(const std::string& address, std::mt19937_64& generator) {
  SessionClient client(address);
  std::string bytes(generator() % 3000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(generator());
  const uint64_t reading = generator() % 3;
  fuzz::SessionScript script(bytes);
  for (auto command = script.Next(); command.has_value(); command = script.Next()) {
    const bool answered = !command->request.quiet() && !command->request.has_input_chunk();
    if (!client.Send(command->request, command->raw)) return;
    if (answered && generator() % 3 < reading && !client.Receive().has_value()) return;
  }
  if (generator() % 2 == 0) client.HalfClose();
  if (generator() % 2 == 0) client.End();
}

}  // namespace
}  // namespace opserve::testing

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("Usage: session_noise ADDRESS SEED\n", stderr);
    return 2;
  }
  std::mt19937_64 generator(std::strtoull(argv[2], nullptr, 10));
  for (;;) opserve::testing::MakeNoise(argv[1], generator);
}
