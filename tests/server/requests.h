// Requests for tests, written briefly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opserve/v1/operator_service.pb.h"

namespace opserve::testing {

using Shape = std::vector<int64_t>;

// Elements of a call that is not run by the thread that brings it.
inline constexpr int64_t kLarge = 1 << 20;
// Of another call: by then the server knows what its transport knows.
inline constexpr int kRoundTrips = 50;

// The elements as bytes of `dtype` (floating).
std::string BytesOf(v1::DataType dtype, const std::vector<double>& elements);
// And back.
std::vector<double> ElementsOf(v1::DataType dtype, std::string_view bytes);

// Adds an input whose elements are a raw entry of its own; the result may be changed further.
v1::Tensor& AddInput(v1::ExecuteRequest& request, const std::string& name, v1::DataType dtype,
                     const Shape& shape, const std::vector<double>& elements);

v1::Attribute& AddInt(v1::Call& call, const std::string& name, int64_t value);
v1::Attribute& AddFloat(v1::Call& call, const std::string& name, double value);

// The sample: SmoothL1LossBackward of grad_out = 1s, self = 0..7, target = 1s, shape [4, 2],
// reduction none, beta 1.
v1::ExecuteRequest SampleRequest(v1::DataType dtype = v1::DATA_TYPE_FLOAT32);
// -1 0 1 1 1 1 1 1
std::vector<double> SampleGradient();

// Adds `single` with its raw entries, those behind what the batch has.
v1::Call& AddToBatch(v1::ExecuteBatchRequest& batch, const v1::ExecuteRequest& single);
// Result `index` of a batch as the answer to a call by itself.
v1::ExecuteResponse ResultOf(const v1::ExecuteBatchResponse& batch, int index);

// The elements of output `index`, wherever the response has them.
std::vector<double> OutputOf(const v1::ExecuteResponse& response, int index = 0);

}  // namespace opserve::testing
