// ExecuteBatchResponse, put together result by result. Byte for byte what the generated code
// writes; the bytes of large outputs are not copied.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"
#include "opserve/v1/operator_service.pb.h"
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
  // `status` is not OK.
  void AddError(const absl::Status& status);

  grpc::ByteBuffer Write() &&;

 private:
  void AddMessage(const v1::BatchResult& result);

  std::string results_;
  std::vector<PooledBuffer> raw_;
};

}  // namespace opserve::server
