#include "tests/server/requests.h"

#include <limits>

#include <gtest/gtest.h>

#include "core/tensor/element.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {

std::string BytesOf(v1::DataType dtype, const std::vector<double>& elements) {
  const auto core_dtype = static_cast<DType>(dtype);
  const size_t size = DTypeSize(core_dtype);
  std::string bytes(elements.size() * size, '\0');
  for (size_t i = 0; i < elements.size(); ++i) {
    EXPECT_THAT(StoreElement(core_dtype, Number(elements[i]),
                             reinterpret_cast<std::byte*>(bytes.data()) + i * size),
                IsOk());
  }
  return bytes;
}

std::vector<double> ElementsOf(v1::DataType dtype, std::string_view bytes) {
  const auto core_dtype = static_cast<DType>(dtype);
  const size_t size = DTypeSize(core_dtype);
  std::vector<double> elements;
  for (size_t i = 0; i + size <= bytes.size(); i += size) {
    elements.push_back(
        LoadAsDouble(core_dtype, reinterpret_cast<const std::byte*>(bytes.data()) + i));
  }
  return elements;
}

v1::Tensor& AddInput(v1::ExecuteRequest& request, const std::string& name, v1::DataType dtype,
                     const Shape& shape, const std::vector<double>& elements) {
  v1::Tensor& tensor = *request.mutable_call()->add_inputs();
  tensor.set_name(name);
  tensor.set_dtype(dtype);
  tensor.mutable_shape()->Add(shape.begin(), shape.end());
  tensor.set_raw_index(static_cast<uint32_t>(request.raw_size()));
  request.add_raw(BytesOf(dtype, elements));
  return tensor;
}

v1::Attribute& AddInt(v1::Call& call, const std::string& name, int64_t value) {
  v1::Attribute& attribute = *call.add_attributes();
  attribute.set_name(name);
  attribute.set_int_value(value);
  return attribute;
}

v1::Attribute& AddFloat(v1::Call& call, const std::string& name, double value) {
  v1::Attribute& attribute = *call.add_attributes();
  attribute.set_name(name);
  attribute.set_float_value(value);
  return attribute;
}

v1::ExecuteRequest SampleRequest(v1::DataType dtype) {
  v1::ExecuteRequest request;
  request.mutable_call()->set_op("SmoothL1LossBackward");
  const std::vector<double> ones(8, 1);
  AddInput(request, "grad_out", dtype, {4, 2}, ones);
  AddInput(request, "self", dtype, {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  AddInput(request, "target", dtype, {4, 2}, ones);
  AddInt(*request.mutable_call(), "reduction", 0);
  AddFloat(*request.mutable_call(), "beta", 1);
  return request;
}

std::vector<double> SampleGradient() { return {-1, 0, 1, 1, 1, 1, 1, 1}; }

v1::Call& AddToBatch(v1::ExecuteBatchRequest& batch, const v1::ExecuteRequest& single) {
  v1::Call& call = *batch.add_calls();
  call = single.call();
  for (v1::Tensor& tensor : *call.mutable_inputs()) {
    if (!tensor.has_raw_index()) continue;
    // One that is outside of its message stays so.
    const bool inside = tensor.raw_index() < static_cast<uint32_t>(single.raw_size());
    const auto index = tensor.raw_index() + static_cast<uint32_t>(batch.raw_size());
    tensor.set_raw_index(inside ? index : std::numeric_limits<uint32_t>::max());
  }
  batch.mutable_raw()->MergeFrom(single.raw());
  return call;
}

v1::ExecuteResponse ResultOf(const v1::ExecuteBatchResponse& batch, int index) {
  v1::ExecuteResponse single;
  if (index >= batch.results_size()) return single;
  *single.mutable_outputs() = batch.results(index).outputs();
  for (v1::Tensor& tensor : *single.mutable_outputs()) {
    if (!tensor.has_raw_index()) continue;
    const auto entry = static_cast<int>(tensor.raw_index());
    tensor.set_raw_index(static_cast<uint32_t>(single.raw_size()));
    if (entry < batch.raw_size()) single.add_raw(batch.raw(entry));
  }
  return single;
}

std::vector<double> OutputOf(const v1::ExecuteResponse& response, int index) {
  if (index >= response.outputs_size()) return {};
  const v1::Tensor& tensor = response.outputs(index);
  if (tensor.has_values())
    return {tensor.values().floats().begin(), tensor.values().floats().end()};
  if (!tensor.has_raw_index() || tensor.raw_index() >= static_cast<uint32_t>(response.raw_size()))
    return {};
  return ElementsOf(tensor.dtype(), response.raw(static_cast<int>(tensor.raw_index())));
}

}  // namespace opserve::testing
