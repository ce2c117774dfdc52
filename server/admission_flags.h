// The flags of opserve-server about what a device may have under way.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "absl/status/statusor.h"
#include "core/engine/admission.h"

namespace opserve::server {

// As they came.
struct AdmissionFlagTexts {
  int max_calls = 4096;
  std::string max_bytes;
  std::string max_wait = "500ms";
};

// `texts` must outlive the parsing.
void AddAdmissionFlags(CLI::App& app, AdmissionFlagTexts& texts);

absl::StatusOr<AdmissionLimits> InterpretAdmissionFlags(const AdmissionFlagTexts& texts);

}  // namespace opserve::server
