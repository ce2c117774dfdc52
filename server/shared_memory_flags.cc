#include "server/shared_memory_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/config.h"
#include "server/connections/unix_socket.h"

namespace opserve::server {
void AddSharedMemoryFlags(CLI::App& app, SharedMemoryFlagTexts& texts) {
  app.add_option(kAllowSharedMemory, texts.address,
                 "Share memory with clients on this host, who ask for it on a unix socket there\n"
                 "(--unix-socket-mode says who may open it). Default: none.")
      ->type_name("unix:PATH")
      ->group("Shared memory");
  app.add_option("--shared-memory-limit", texts.limit,
                 "Bound on it, over all clients. It is beside --memory-limit.")
      ->capture_default_str()
      ->type_name("SIZE")
      ->group("Shared memory");
}

absl::StatusOr<SharedMemoryConfig> InterpretSharedMemoryFlags(
    const SharedMemoryFlagTexts& texts, const std::vector<std::string>& listen) {
  SharedMemoryConfig config;
  OPSERVE_ASSIGN_OR_RETURN(config.limit_bytes, ParseByteSize(texts.limit, "--shared-memory-limit"));
  if (texts.address.empty()) return config;
  config.socket = UnixSocketPath(texts.address);
  if (config.socket.empty() || config.socket.size() > kMaxUnixSocketPath) {
    return InvalidParameter(kAllowSharedMemory,
                            absl::StrCat("unix: and a path of 1 to ", kMaxUnixSocketPath, " bytes"),
                            absl::StrCat("\"", texts.address, "\""));
  }
  for (const std::string& address : listen) {
    if (UnixSocketPath(address) != config.socket) continue;
    return InvalidParameter(kAllowSharedMemory, "a socket of its own",
                            absl::StrCat(texts.address, ", which --listen has"));
  }
  return config;
}

}  // namespace opserve::server
