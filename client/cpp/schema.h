// What a server tells about itself: limits, operators and devices, as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor_desc.h"

namespace opserve::client {

// The value of an operator's parameter that is not a tensor.
using AttributeValue = std::variant<int64_t, double, bool, std::vector<int64_t>, std::vector<bool>,
                                    std::vector<double>>;

// What an attribute takes. kUnknown is a kind that this client is too old for.
enum class AttributeKind : uint8_t { kUnknown, kInt, kFloat, kBool, kIntList, kBoolList, kScalar };

struct ServerInfo {
  std::string version;             // "0.1.0"
  int64_t max_message_bytes = 0;   // largest request or answer
  int64_t memory_limit_bytes = 0;  // bound on tensors and workspaces of all calls
  int64_t recommended_chunk_bytes = 0;
  int32_t max_rank = 0;
  // Of a server that shares memory with clients on its host: the path of its socket there, and the
  // bound on all of it.
  std::string shared_memory_socket;
  int64_t shared_memory_limit_bytes = 0;
};

// An input or an output of an operator.
struct TensorParameter {
  std::string name;
  std::string summary;
  bool optional = false;
  std::vector<DType> dtypes;  // that the "host" profile accepts
  std::string shape;          // in words or symbols: "(T, N, C)", "broadcastable"
};

struct AttributeParameter {
  std::string name;
  std::string summary;
  AttributeKind kind = AttributeKind::kUnknown;
  std::optional<AttributeValue> default_value;  // nullopt = required
};

struct ProfileSupport {
  std::string profile;  // "host", "atlas-a2", …
  std::vector<DType> dtypes;
};

struct OperatorSchema {
  std::string name;
  std::string summary;
  std::string description;
  std::vector<TensorParameter> inputs;
  std::vector<AttributeParameter> attributes;
  std::vector<TensorParameter> outputs;
  std::vector<ProfileSupport> support;  // a profile that is absent does not have the operator
  // Its element-wise calls (of a loss: those with reduction none) may come in chunks.
  bool streams_in_chunks = false;
};

struct MemoryInfo {
  int64_t limit_bytes = 0;
  int64_t used_bytes = 0;
  int64_t cached_bytes = 0;
};

struct Device {
  std::string name;  // "cpu:0"; what Call::OnDevice takes
  std::string kind;
  std::string profile;
  std::string description;
  int32_t threads = 0;
  std::vector<std::string> operators;
  MemoryInfo memory;
  std::string lost;  // why it is not used any more; empty while it works
};

struct PlannedOutput {
  std::string name;
  TensorDesc desc;  // dense
};

// What the server expects of an execution, from shapes alone.
struct CostEstimate {
  int64_t bytes = 0;         // read and written
  int64_t operations = 0;    // arithmetic that does not hide behind the memory
  absl::Duration time;       // on one thread
  bool runs_inline = false;  // on the thread that brings it, without a queue
};

// Phase one's answer.
struct Plan {
  int64_t workspace_bytes = 0;
  std::vector<PlannedOutput> outputs;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  std::string device;
  CostEstimate cost;
};

}  // namespace opserve::client
