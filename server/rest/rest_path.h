// The paths of the Open Inference Protocol by HTTP.
#pragma once

#include <cstdint>
#include <string_view>

namespace opserve::server {

enum class RestResource : uint8_t {
  kNone,             // there is no such path
  kServer,           // /v2
  kLive,             // /v2/health/live
  kReady,            // /v2/health/ready
  kModel,            // /v2/models/M, /v2/models/M/versions/V
  kModelReady,       // …/ready
  kModelConfig,      // …/config
  kModelStatistics,  // …/stats, and /v2/models/stats, which has no model
  kInfer,            // …/infer
  kIndex,            // /v2/repository/index
  kRegions,          // /v2/systemsharedmemory/status, /v2/systemsharedmemory/region/R/status
  kRegister,         // …/region/R/register
  kUnregister,       // /v2/systemsharedmemory/unregister, …/region/R/unregister
  kCudaRegions,      // /v2/cudasharedmemory/…/status
  kCudaMemory,       // …/register, …/unregister
  kUnsupported,      // what other servers have: loading, tracing, logging
};

struct RestPath {
  RestResource resource = RestResource::kNone;
  // Of `path`.
  std::string_view model;
  std::string_view version;
  std::string_view region = {};
};

// Whether it is in the part of the port that is the protocol's.
bool IsRestPath(std::string_view path);

RestPath ParseRestPath(std::string_view path);

}  // namespace opserve::server
