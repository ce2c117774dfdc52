// How the results of a call look on the wire, computed once for all calls with the same plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/engine/engine.h"
#include "opserve/v1/operator_service.pb.h"
#include "server/codec/output_codec.h"
#include "server/codec/raw_writer.h"

namespace opserve::server {

// What the caller asked for.
struct ResultOptions {
  v1::TensorEncoding encoding = v1::TENSOR_ENCODING_RAW;
  // The device, where the result is to say how it was executed; else empty.
  std::string reported_device = {};
};

// A value. Thread-safe.
class ResultForm {
 public:
  ResultForm() = default;
  // `call` is a planned call. `sharing` is its message if that has outputs in shared memory, else
  // nullptr. Both must outlive this.
  ResultForm(const OpCall& call, const v1::Call* sharing, ResultOptions options);

  // Whether outputs are raw entries of the message; else they are values of their tensors.
  bool is_raw() const { return options_.encoding == v1::TENSOR_ENCODING_RAW; }
  // What the values take, at most; 0 for RAW.
  size_t values_bytes() const { return values_bytes_; }
  // The most that such a result takes among those of a batch.
  size_t max_batched_bytes() const { return max_batched_bytes_; }
  // The most that an ExecuteResponse of it takes.
  size_t max_response_bytes() const { return max_response_bytes_; }

  // RAW: the field `outputs` of an ExecuteResponse or a BatchResult, whose raw entries begin with
  // the one of index `first_raw`. As AppendOutputs, in bytes.
  size_t OutputsBytes(uint32_t first_raw) const;
  void AppendOutputs(uint32_t first_raw, std::string& message) const;
  // RAW: adds the raw entries, of all outputs or of those that call `index` of a series made.
  void AddRaw(Outputs outputs, RawWriter& raw) const;
  void AddRaw(const SeriesOutputs& outputs, size_t index, RawWriter& raw) const;

  // Whether the result says how it was executed.
  bool reports_execution() const { return !options_.reported_device.empty(); }
  v1::Execution Execution(const CallTimes& times) const;
  // The field `execution` of an ExecuteResponse or a BatchResult; empty where it is not wanted.
  std::string ExecutionField(const CallTimes& times) const;

  // `tensors` become the outputs, with their values or, RAW, with the indices of the entries that
  // it returns.
  std::vector<PooledBuffer> FillTensors(Outputs outputs, TensorList& tensors) const;

 private:
  struct Output {
    std::string tensor;  // serialized, but for the raw_index
    bool is_raw;         // has a raw entry
  };

  static size_t TensorBytes(const Output& output, uint32_t raw_index);

  void Describe(TensorList& tensors) const;

  const OpCall* call_ = nullptr;
  const v1::Call* sharing_ = nullptr;
  ResultOptions options_;
  absl::InlinedVector<Output, 1> outputs_;
  size_t values_bytes_ = 0;
  size_t max_batched_bytes_ = 0;
  size_t max_response_bytes_ = 0;
};

// Values are for small tensors: while they are encoded they take several times their size.
inline constexpr size_t kMaxValuesBytes = size_t{4} << 20;

// About what it takes to write so many.
absl::Duration ValuesTime(size_t values_bytes);

// RESOURCE_EXHAUSTED naming output_encoding where `values_bytes` are more than kMaxValuesBytes, or
// than `left` of them.
absl::Status CheckValues(const OpCall& call, size_t values_bytes, size_t left = kMaxValuesBytes);

// The ExecuteResponse with these outputs of a call of that form. Large outputs are not copied.
WrittenMessage WriteExecuteResponse(const ResultForm& form, Outputs outputs,
                                    const CallTimes& times);

}  // namespace opserve::server
