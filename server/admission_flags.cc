#include "server/admission_flags.h"

#include <CLI/CLI.hpp>

#include "core/base/status_macros.h"
#include "server/config.h"

namespace opserve::server {
namespace {

constexpr int kMaxCalls = 1 << 24;

}  // namespace

void AddAdmissionFlags(CLI::App& app, AdmissionFlagTexts& texts) {
  app.add_option("--max-calls-in-flight", texts.max_calls,
                 "Calls that wait or run on a device's threads; more are refused at once with\n"
                 "RESOURCE_EXHAUSTED and the time to try again. Tiny calls do not wait.")
      ->capture_default_str()
      ->check(CLI::Range(1, kMaxCalls))
      ->type_name("N")
      ->group("Admission");
  app.add_option(
         "--max-bytes-in-flight", texts.max_bytes,
         "Inputs, outputs and workspaces of those calls, on each device; likewise.\n"
         "A call that is alone is not refused. Default: the device's part of --memory-limit.")
      ->type_name("SIZE")
      ->group("Admission");
  app.add_option(
         "--max-queue-wait", texts.max_wait,
         "How long a call may be expected to wait for its turn, besides its own time; likewise.")
      ->capture_default_str()
      ->type_name("TIME")
      ->group("Admission");
}

absl::StatusOr<AdmissionLimits> InterpretAdmissionFlags(const AdmissionFlagTexts& texts) {
  AdmissionLimits limits{.max_calls = texts.max_calls, .max_bytes = 0};
  OPSERVE_ASSIGN_OR_RETURN(limits.max_wait, ParseTimeout(texts.max_wait, "--max-queue-wait"));
  if (texts.max_bytes.empty()) return limits;
  OPSERVE_ASSIGN_OR_RETURN(limits.max_bytes,
                           ParseByteSize(texts.max_bytes, "--max-bytes-in-flight"));
  return limits;
}

}  // namespace opserve::server
