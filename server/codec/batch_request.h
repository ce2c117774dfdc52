// ExecuteBatchRequest: many calls in one message. Calls that differ only in which raw entries they
// use are parsed once, so that hundreds of alike small calls cost little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/base/client_id.h"
#include "core/device/memory_pool.h"
#include "google/protobuf/arena.h"
#include "opserve/v1/operator_service.pb.h"
#include "server/codec/message_scanner.h"

namespace opserve::server {

inline constexpr size_t kMaxBatchCalls = 4096;
inline constexpr size_t kMaxBatchRawEntries = 4 * kMaxBatchCalls;

// What a call says, but for where its bytes are.
struct DistinctCall {
  // What the raw_index of its tensors is an index into.
  enum class RawIndex : uint8_t {
    kOfCall,   // BatchedCall::raw
    kOfBatch,  // BatchRequest::raw; one of them is too large, so that the call must be refused
  };

  const v1::Call* call = nullptr;
  RawIndex raw_index = RawIndex::kOfCall;
};

struct BatchedCall {
  size_t distinct = 0;                       // index into BatchRequest::distinct
  absl::InlinedVector<uint32_t, 4> entries;  // indices into BatchRequest::raw, each once
};

// Movable: moving keeps every address.
struct BatchRequest {
  std::vector<BatchedCall> calls;
  std::vector<DistinctCall> distinct;
  int output_encoding = 0;  // not checked yet
  std::vector<Fragments> raw;
  std::vector<bool> reused;           // of each raw entry: whether several calls use it
  std::shared_ptr<const void> owner;  // keeps the bytes of `raw`
  std::unique_ptr<google::protobuf::Arena> arena;  // of `distinct`
  PooledBuffer packed;                             // what PackEntries copied
};

// Of a message without its `raw`, whose bytes `owner` keeps. Errors: 161002 when the header is no
// ExecuteBatchRequest, for more than kMaxBatchCalls, and for a raw entry that no call uses.
absl::StatusOr<BatchRequest> ReadBatchRequest(ScannedMessage message,
                                              std::shared_ptr<const void> owner);

// Copies raw entries that kernels cannot use where they lie into one piece of memory of `pool`,
// aligned: the small ones, one lease for all, and those that every call that uses them would copy
// for itself. Where `client` can have no such memory, they stay as they are.
void PackEntries(MemoryPool& pool, ClientId client, BatchRequest& batch);

}  // namespace opserve::server
