// The server's flags: a command line and a --config file.
//
// Input: flags, one a line; then, after a line of "---", the file.
#include <sys/mman.h>
#include <unistd.h>

#include <variant>

#include "server/flags/config.h"
#include "server/flags/flag_set.h"
#include "server/flags/listen_address.h"
#include "tests/fuzz/fuzz_input.h"

namespace opserve::fuzz {
namespace {

constexpr std::string_view kParting = "---\n";

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : file_(memfd_create("config", 0)) {
    Require(write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "written");
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void CheckConfig(const server::ServerConfig& config) {
  Require(!config.listen.empty() && !config.devices.empty(), "there are addresses and devices");
  for (const std::string& address : config.listen)
    Require(server::CheckListenAddress(address).ok(), "addresses are sound");
  for (const DeviceSpec& device : config.devices)
    Require((device.kind == "cpu" && device.ids.empty()) || device.kind == "ascend", "kinds");
  for (const DeviceSpec& device : config.devices)
    Require(device.threads >= 0 && device.threads <= 1024, "threads");
  Require(config.max_message_bytes > 0 && config.memory_limit_bytes > 0, "limits are positive");
  Require(config.drain_timeout >= absl::ZeroDuration(), "times are positive");
}

void Parse(std::vector<std::string> words) {
  std::vector<const char*> argv = {"opserve-server"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto parsed = server::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
  if (const auto* config = std::get_if<server::ServerConfig>(&parsed)) return CheckConfig(*config);
  const auto& exit = std::get<server::EarlyExit>(parsed);
  Require((exit.code == 0 || exit.code == 2) && !exit.text.empty(), "an exit says why");
}

template <typename T>
void CheckDetail(const absl::StatusOr<T>& parsed) {
  if (!parsed.ok()) RequireDetail(parsed.status());
}

// The parts by themselves.
void ParseParts(std::string_view text) {
  CheckDetail(server::ParseByteSize(text, "--size"));
  CheckDetail(server::ParseTimeout(text, "--time"));
  CheckDetail(ParseDeviceSpec(text));
  const absl::Status address = server::CheckListenAddress(text);
  if (!address.ok()) RequireDetail(address);
}

}  // namespace
}  // namespace opserve::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find("--config") != std::string_view::npos) return 0;  // no file but ours
  fuzz::ParseParts(text);
  const size_t parting = text.find(fuzz::kParting);
  std::vector<std::string> words = fuzz::Lines(text.substr(0, parting));
  if (parting == std::string_view::npos) {
    fuzz::Parse(std::move(words));
    return 0;
  }
  const fuzz::MemoryFile file(text.substr(parting + fuzz::kParting.size()));
  words.insert(words.begin(), {"--config", file.path()});
  fuzz::Parse(std::move(words));
  return 0;
}
