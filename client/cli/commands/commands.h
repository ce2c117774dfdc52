// The commands.
#pragma once

#include <opserve/client.h>

#include "absl/status/status.h"
#include "client/cli/commands/arguments.h"

namespace opserve::cli {

// A client and the time that is left for the whole command.
class Remote {
 public:
  Remote(client::Client client, absl::Duration timeout, std::string traceparent = {});
  const client::Client& client() const { return client_; }
  // For the next call.
  client::CallOptions options() const;

 private:
  client::Client client_;
  absl::Time deadline_;
  std::string traceparent_;
};

// Does what `arguments` say, of all commands but `tutorial`, which is made of them; the result is
// on standard output. Errors are those that ExitCodeOf knows.
absl::Status RunCommand(const Arguments& arguments);

// `plan` and `run`.
absl::Status Plan(const Arguments& arguments, const Remote& remote);
absl::Status Run(const Arguments& arguments, const Remote& remote);
// `program show`.
absl::Status Show(const Arguments& arguments, const Remote& remote);
// `stats`. The timeout is each call's, as the command may last.
absl::Status Stats(const Arguments& arguments, const client::Client& client);
// `bench`, which connects by itself: it may have several targets.
absl::Status RunBench(const Arguments& arguments);

}  // namespace opserve::cli
