#include "tests/bench/e2e/workload.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"

namespace opserve::bench {
namespace {

constexpr int64_t kComputeColumns = 512;

using Floats = std::vector<float>;

std::string BytesOf(const Floats& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

// Small halves, so that what is computed from them is exact.
Floats Repeating(int64_t count, int period, float start) {
  Floats values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = start + 0.5F * static_cast<float>(i % static_cast<size_t>(period));
  return values;
}

bool IsPowerOfTwo(int64_t number) { return (number & (number - 1)) == 0; }

void AddInput(Workload& workload, const char* name, const std::vector<int64_t>& shape,
              const Floats& values) {
  v1::Tensor& tensor = *workload.call.add_inputs();
  tensor.set_name(name);
  tensor.set_dtype(v1::DATA_TYPE_FLOAT32);
  tensor.mutable_shape()->Add(shape.begin(), shape.end());
  tensor.set_raw_index(static_cast<uint32_t>(workload.inputs.size()));
  workload.inputs.push_back(BytesOf(values));
}

void AddReduction(Workload& workload, int64_t reduction) {
  v1::Attribute& attribute = *workload.call.add_attributes();
  attribute.set_name("reduction");
  attribute.set_int_value(reduction);
}

// grad, self and target of `data_elements`, described as `elements`; the output is grad *
// slope(self - target).
Workload Backward(const char* op, const char* grad_name, int64_t elements, int64_t data_elements,
                  const std::function<float(float)>& slope) {
  const Floats grad = Repeating(data_elements, 7, 1);
  const Floats self = Repeating(data_elements, 9, -2);
  const Floats target = Repeating(data_elements, 4, 0);
  Floats output(grad.size());
  for (size_t i = 0; i < output.size(); ++i) output[i] = slope(self[i] - target[i]) * grad[i];
  Workload workload;
  workload.call.set_op(op);
  AddInput(workload, grad_name, {elements}, grad);
  AddInput(workload, "self", {elements}, self);
  AddInput(workload, "target", {elements}, target);
  AddReduction(workload, 0);
  workload.output = BytesOf(output);
  return workload;
}

}  // namespace

int64_t Workload::input_bytes() const {
  int64_t bytes = 0;
  for (const std::string& input : inputs) bytes += static_cast<int64_t>(input.size());
  return bytes;
}

Workload GradientWorkload(int64_t elements) {
  Workload workload = Backward("SmoothL1LossBackward", "grad_out", elements, elements,
                               [](float x) { return std::clamp(x, -1.0F, 1.0F); });
  v1::Attribute& beta = *workload.call.add_attributes();
  beta.set_name("beta");
  beta.set_float_value(1);
  return workload;
}

Workload PassThroughWorkload(int64_t elements, int64_t chunk_elements) {
  return Backward("L1LossBackward", "grad_output", elements, chunk_elements, [](float x) {
    return x > 0 ? 1.0F : x < 0 ? -1.0F : 0.0F;
  });
}

// |self - target| is 1 everywhere, and so is its mean.
Workload ComputeWorkload(int64_t elements) {
  const int64_t rows = elements / kComputeColumns;
  Workload workload;
  workload.call.set_op("L1Loss");
  // One element each, repeated: a call is all computation.
  for (const auto& [name, value] : {std::pair("self", 2.0F), std::pair("target", 1.0F)}) {
    AddInput(workload, name, {rows, kComputeColumns}, Floats(1, value));
    v1::Tensor& input = *workload.call.mutable_inputs()->rbegin();
    input.add_strides(0);
    input.add_strides(0);
  }
  AddReduction(workload, 1);
  workload.output = BytesOf({1.0F});
  return workload;
}

absl::StatusOr<Workload> MakeWorkload(std::string_view name, int64_t elements) {
  if (name == "gradient" && elements > 0) return GradientWorkload(elements);
  if (name == "compute" && elements >= kComputeColumns && IsPowerOfTwo(elements))
    return ComputeWorkload(elements);
  if (name != "gradient" && name != "compute")
    return InvalidParameter("--workload", "gradient or compute", name);
  return InvalidParameter("--elements", "> 0, and for compute a power of two from 512 on",
                          absl::StrCat(elements));
}

absl::Status CheckFloats(std::string_view want, std::string_view got) {
  if (want == got) return absl::OkStatus();
  if (want.size() != got.size()) {
    return absl::InternalError(
        absl::StrCat("wrong answer: want ", want.size(), " bytes, got ", got.size()));
  }
  const auto differs = std::mismatch(want.begin(), want.end(), got.begin()).first;
  return absl::InternalError(
      absl::StrCat("wrong answer: element ", (differs - want.begin()) / sizeof(float), " differs"));
}

}  // namespace opserve::bench
