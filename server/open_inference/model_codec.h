// Operators as models of the Open Inference Protocol.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/engine/engine.h"
#include "core/op/operator.h"
#include "inference/open_inference.pb.h"

namespace opserve::server {

// The version that every model has.
inline constexpr std::string_view kModelVersion = "1";

// The operator of that name. NOT_FOUND for a name that no operator has, with the nearest, and for a
// version that is neither empty nor kModelVersion.
absl::StatusOr<const Operator*> FindModel(std::string_view name, std::string_view version);

// Of a parameter whose schema says so in words: "(T, N, C)" has three extents of -1, what may have
// any rank has one.
std::vector<int64_t> VariableShape(std::string_view words);

// The server's name, version and extensions.
inference::ServerMetadataResponse EncodeServerMetadata(bool has_shared_memory);

inference::ModelMetadataResponse EncodeModelMetadata(const Operator& op);
inference::ModelConfig EncodeModelConfig(const Operator& op);

// Why no device of the engine's runs the operator now; empty when one does.
std::string WhyUnavailable(const Engine& engine, const Operator& op);
// Whether any device works.
bool HasWorkingDevice(const Engine& engine);

inference::RepositoryIndexResponse EncodeIndex(const Engine& engine, bool only_ready);

}  // namespace opserve::server
