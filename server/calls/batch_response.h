// ExecuteBatchResponse, put together result by result. Byte for byte what the generated code
// writes; the bytes of large outputs are not copied.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "opserve/v1/operator_service.pb.h"
#include "server/calls/result_form.h"
#include "server/codec/raw_writer.h"
#include "server/codec/status_details.h"

namespace opserve::server {

// The most that a result with an error takes in the message.
inline constexpr size_t kMaxErrorResultBytes = kMaxStatusDetailsBytes + 16;

// Results are added in the order of the calls.
class BatchResponseWriter {
 public:
  // The outputs of a call that has the plan which `form` was made of.
  void Add(const ResultForm& form, Outputs outputs, const CallTimes& times);
  // RAW: those of call `index` of a series. They are copied.
  void Add(const ResultForm& form, const SeriesOutputs& outputs, size_t index,
           const CallTimes& times);
  // `status` is not OK.
  void AddError(const absl::Status& status);

  WrittenMessage Write() &&;

 private:
  void AppendResult(const ResultForm& form, const CallTimes& times);

  std::string results_;
  RawWriter raw_{v1::ExecuteBatchResponse::kRawFieldNumber};
};

}  // namespace opserve::server
