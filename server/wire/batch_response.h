// ExecuteBatchResponse, put together result by result. Byte for byte what the generated code
// writes; the bytes of large outputs are not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "core/engine/engine.h"
#include "opserve/v1/operator_service.pb.h"
#include "server/wire/status_details.h"

namespace opserve::server {

// The most that a result with an error takes in the message.
inline constexpr size_t kMaxErrorResultBytes = kMaxStatusDetailsBytes + 16;

// What the results of calls with the same plan have in common.
class ResultForm {
 public:
  ResultForm() = default;
  // `call` is planned, `request` what it was planned from; it must outlive this.
  ResultForm(const OpCall& call, const v1::Call& request, v1::TensorEncoding encoding);

  // The most that such a result takes in the message.
  size_t max_bytes() const { return max_bytes_; }

 private:
  friend class BatchResponseWriter;
  struct Output {
    std::string tensor;  // serialized, but for the raw_index
    bool is_raw;         // has a raw entry
  };

  void AppendRaw(uint32_t first_raw_index, std::string& results) const;

  const OpCall* call_ = nullptr;
  const v1::Call* request_ = nullptr;
  v1::TensorEncoding encoding_ = v1::TENSOR_ENCODING_RAW;
  absl::InlinedVector<Output, 1> outputs_;  // of RAW
  size_t max_bytes_ = 0;
};

// Results are added in the order of the calls.
class BatchResponseWriter {
 public:
  // The outputs of a call that has the plan which `form` was made of.
  void Add(const ResultForm& form, Outputs outputs);
  // `status` is not OK.
  void AddError(const absl::Status& status);

  grpc::ByteBuffer Write() &&;

 private:
  void AddMessage(const v1::BatchResult& result);

  std::string results_;
  std::vector<PooledBuffer> raw_;
};

}  // namespace opserve::server
