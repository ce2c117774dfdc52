// opserve.v1.Call into core's terms, in two steps: the call by name, which is all that a plan
// needs, then the bytes behind it.
//
// Inputs whose name is an attribute of the operator are attributes. Errors name the operator and
// the parameter and are 161002 unless stated; what an operator's schema and inference check
// (unknown and missing names, dtypes, shapes) is left to Engine::MakePlan.
#pragma once

#include <cstddef>
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

// The operator of that name; NOT_FOUND otherwise, at once for a name that is too long to be one.
absl::StatusOr<const Operator*> FindCallee(std::string_view name);

// A call whose tensors come without data (GetWorkspaceSize); data on one is an error, save on an
// attribute, whose value may come as `values`. The result holds views into `call`.
absl::StatusOr<NamedCall> DecodePlanCall(const v1::Call& call);

// A call whose tensors have data; 161001 names one that has none. `raw` are the message's raw
// entries. The storages of the result are those that DecodeStorages returns. The result holds views
// into `call`. NOT_FOUND: no such operator.
absl::StatusOr<NamedCall> DecodeExecuteCall(const v1::Call& call, std::span<const Fragments> raw);

// As DecodeExecuteCall for a call whose tensors may be in shared memory. Its storages are followed
// by those of DecodeSharedStorages, which returns the outputs', too.
absl::StatusOr<NamedCall> DecodeSharingCall(const v1::Call& call, std::span<const Fragments> raw);

// As DecodeExecuteCall for ExecuteChunkedCommand: inputs that are `chunked` have storage -1.
absl::StatusOr<NamedCall> DecodeChunkedCall(const v1::Call& call, std::span<const Fragments> raw);

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

// For a call that DecodeExecuteCall and MakePlan accepted. Errors: a raw entry that no input uses,
// values that do not fit.
absl::StatusOr<CallStorages> DecodeStorages(const v1::Call& call, std::vector<Fragments> raw);

}  // namespace opserve::server
