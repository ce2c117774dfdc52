// What a server tells about itself: limits, operators and devices, as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <opserve/attribute_value.h>
#include <opserve/program.h>

#include "absl/time/time.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor_desc.h"

namespace opserve::client {

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
  // What it offers that others may not: "shared_memory", "compression".
  std::vector<std::string> features;

  // Limits of a message.
  int64_t max_header_bytes = 0;  // all but tensors' bytes
  int32_t max_raw_entries = 0;
  int32_t max_batch_raw_entries = 0;
  int32_t max_batch_calls = 0;
  int32_t max_session_commands = 0;
  int32_t max_name_bytes = 0;
  int64_t max_attribute_elements = 0;
  int64_t max_values_bytes = 0;
  int64_t max_inflated_bytes = 0;                           // 0: takes no compressed requests
  int32_t max_program_steps = 0;                            // 0: takes no programs
  absl::Duration max_call_time = absl::InfiniteDuration();  // by its estimate
};

// An input or an output of an operator.
struct TensorParameter {
  std::string name;
  std::string summary;
  bool optional = false;
  std::vector<DType> dtypes;  // that the "host" profile accepts
  std::string shape;          // in words or symbols: "(T, N, C)", "broadcastable"
};

// One of the values of an attribute that has names for them.
struct AttributeChoice {
  int64_t value = 0;
  std::string name;  // "mean"
  std::string summary;
};

// Where a number must lie; of a list, each element. NaN lies in no range.
struct AttributeRange {
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  bool minimum_excluded = false;
  bool maximum_excluded = false;
};

struct AttributeParameter {
  std::string name;
  std::string summary;
  AttributeKind kind = AttributeKind::kUnknown;
  std::optional<AttributeValue> default_value;  // nullopt = required
  std::vector<AttributeChoice> choices = {};    // none = any that `range` allows
  std::optional<AttributeRange> range = {};
  int32_t list_length = 0;  // 0 = any
};

struct ProfileSupport {
  std::string profile;  // "host", "atlas-a2", …
  std::vector<DType> dtypes;
};

// What an input of the operator that computes a gradient is, of the forward operator: its input or
// output `origin`, or the gradient of that output. kUnknown is a source that this client is too old
// for.
struct GradientInput {
  enum class Source : uint8_t { kUnknown, kInput, kOutput, kOutputGradient };

  std::string name;
  Source source = Source::kUnknown;
  std::string origin;
};

// Which input of the forward an output is the gradient of; to be summed to that input's shape.
struct GradientOutput {
  std::string name;
  std::string input;
};

// An attribute of the gradient's operator that has the value of the forward's attribute `origin`,
// or `value`. Neither is a source that this client is too old for.
struct GradientAttribute {
  std::string name;
  std::string origin;
  std::optional<AttributeValue> value;
};

// How `op` computes the gradients of another operator. Other attributes that both have under one
// name are passed on; operator_service.proto says more.
struct Gradient {
  std::string op;
  std::vector<GradientInput> inputs;
  std::vector<GradientOutput> outputs;
  std::string output_mask;  // the attribute that says which outputs are wanted; empty = none does
  std::vector<GradientAttribute> attributes = {};
};

struct OperatorSchema {
  std::string name;
  std::string summary;
  std::string description;
  std::string family = {};  // "Losses"; empty from a server that does not say
  std::vector<TensorParameter> inputs;
  std::vector<AttributeParameter> attributes;
  std::vector<TensorParameter> outputs;
  std::vector<ProfileSupport> support;  // a profile that is absent does not have the operator
  // Its element-wise calls (of a loss: those with reduction none) may come in chunks.
  bool streams_in_chunks = false;
  std::optional<Gradient> gradient = {};
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
  std::optional<ProgramPlan> program;  // of a call of a program
};

}  // namespace opserve::client
