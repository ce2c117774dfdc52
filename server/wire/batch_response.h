// ExecuteBatchResponse, put together result by result. Byte for byte what the generated code
// writes; the bytes of large outputs are not copied.
#pragma once

#include <cstddef>
#include <string>

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"
#include "opserve/v1/operator_service.pb.h"
#include "server/wire/raw_message.h"
#include "server/wire/result_form.h"
#include "server/wire/status_details.h"

namespace opserve::server {

// The most that a result with an error takes in the message.
inline constexpr size_t kMaxErrorResultBytes = kMaxStatusDetailsBytes + 16;

// Results are added in the order of the calls.
class BatchResponseWriter {
 public:
  // The outputs of a call that has the plan which `form` was made of.
  void Add(const ResultForm& form, Outputs outputs);
  // RAW: those of call `index` of a series. They are copied.
  void Add(const ResultForm& form, const SeriesOutputs& outputs, size_t index);
  // `status` is not OK.
  void AddError(const absl::Status& status);

  grpc::ByteBuffer Write() &&;

 private:
  void AppendResult(const ResultForm& form);
  void AddMessage(const v1::BatchResult& result);

  std::string results_;
  RawWriter raw_{v1::ExecuteBatchResponse::kRawFieldNumber};
};

}  // namespace opserve::server
