// The outputs of a call on the wire: described when the call is planned, filled when it ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/engine/engine.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::server {

using TensorList = google::protobuf::RepeatedPtrField<v1::Tensor>;

// RAW for UNSPECIFIED; 161002 for a number that the API does not have.
absl::StatusOr<v1::TensorEncoding> DecodeEncoding(int number);

// The outputs of a planned call, without data.
void EncodeOutputs(const OpCall& call, TensorList& outputs);

// One answer's outputs.
class OutputEncoder {
 public:
  OutputEncoder() = default;
  // For the outputs of a planned call, that EncodeOutputs put into `outputs`: which raw entry each
  // is to be. Those that are `shared` have none.
  OutputEncoder(const OpCall& call, v1::TensorEncoding encoding, TensorList& outputs);

  // The size of each raw entry.
  const std::vector<size_t>& raw_sizes() const { return raw_sizes_; }
  // The most that typed values will take.
  size_t values_bytes() const { return values_bytes_; }

  // Puts values into `outputs`, returns the raw entries.
  std::vector<PooledBuffer> Fill(Outputs results, TensorList& outputs) const;

 private:
  v1::TensorEncoding encoding_ = v1::TENSOR_ENCODING_RAW;
  std::vector<bool> wanted_;
  std::vector<size_t> raw_sizes_;
  size_t values_bytes_ = 0;
};

// RESOURCE_EXHAUSTED naming max_message_bytes for an answer of more than that.
absl::Status CheckAnswerSize(const OpCall& call, size_t bytes, int64_t max_message_bytes);

}  // namespace opserve::server
