// opserve.v1.Call into core's terms, in two steps: the call by name, which is all that a plan
// needs, then the bytes behind it.
//
// Inputs whose name is an attribute of the operator are attributes. Errors name the operator and
// the parameter and are 161002 unless stated; what an operator's schema and inference check
// (unknown and missing names, dtypes, shapes) is left to Engine::MakePlan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "core/op/named_call.h"
#include "opserve/v1/types.pb.h"

namespace opserve::server {

// A name longer than this is nobody's.
inline constexpr size_t kMaxNameBytes = 256;
// Entries of an attribute that comes as a tensor.
inline constexpr int64_t kMaxAttributeTensorElements = int64_t{1} << 16;

// 161002 naming `kind` for a name that is too long.
absl::Status CheckName(std::string_view name, std::string_view kind);
// Of a call's operator or program, for errors.
std::string_view NameOfCallee(const v1::Call& call);

// The operator of that name; NOT_FOUND otherwise, at once for a name that is too long to be one.
absl::StatusOr<const Operator*> FindCallee(std::string_view name);

// Where the tensors of a call have their data.
enum class TensorData : uint8_t {
  kIgnored,          // wherever they say: they are for a plan alone
  kMessage,          // inputs, in raw entries or typed values
  kMessageOrShared,  // likewise, or any tensor in shared memory
  kMessageOrChunks,  // likewise, or inputs that are `chunked`, which have storage -1
  kBuffers           // DecodeExecutorCall's
};

// `raw` are the message's raw entries; there are none for a plan, so that an attribute's value must
// come as `values`. 161001 names an input without data. The storages of the result are those that
// DecodeStorages returns, then those of inputs in shared memory; outputs there are counted in the
// order of Call.outputs. The result holds views into `call`. NOT_FOUND: no such operator.
absl::StatusOr<NamedCall> DecodeCall(const v1::Call& call, TensorData data,
                                     std::span<const Fragments> raw);

// A call on a session's buffers: the storages of its inputs and given outputs index `views`.
// `named` holds views into the call.
struct ExecutorCall {
  NamedCall named;
  std::vector<v1::BufferView> views;
};
absl::StatusOr<ExecutorCall> DecodeExecutorCall(const v1::Call& call);

// The storages of a call. Movable: moving keeps every address.
struct CallStorages {
  std::vector<Fragments> fragments;  // the raw entries, then one for each tensor with typed values
  std::vector<std::vector<std::byte>> values;  // what the latter point to
};

// For a call that DecodeCall and MakePlan accepted. Errors: a raw entry that no input uses,
// values that do not fit.
absl::StatusOr<CallStorages> DecodeStorages(const v1::Call& call, std::vector<Fragments> raw);

}  // namespace opserve::server
