// What --json prints: one JSON object a command.
//
// Tensors have `values`, a flat list in row-major order: shortest decimals that read back to the
// same element; NaN and the infinities, which JSON lacks, are the strings "nan", "inf" and "-inf".
#pragma once

#include <map>
#include <span>
#include <string>

#include <opserve/call.h>
#include <opserve/schema.h>

#include "absl/status/status.h"

namespace opserve::cli {

// Each ends with a newline.
std::string ServerInfoJson(const client::ServerInfo& info, const std::string& target);
std::string OperatorsJson(std::span<const client::OperatorSchema> schemas);
std::string DevicesJson(std::span<const client::Device> devices);
std::string PlanJson(const std::string& op, const client::Plan& plan);
// Outputs that were written to a file (output name → path) have `file` in place of `values`.
std::string ResultJson(const std::string& op, const client::ExecuteResult& result,
                       const std::map<std::string, std::string>& files);
std::string ErrorJson(const absl::Status& status);

}  // namespace opserve::cli
