#include "tests/fuzz/execute_mutator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "core/op/op_table.h"
#include "core/tensor/shape.h"
#include "opserve/v1/operator_service.pb.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace opserve::fuzz {
namespace {

constexpr size_t kControlBytes = 2;
constexpr size_t kMaxRawBytes = 4096;

class Mutator {
 public:
  Mutator(v1::ExecuteRequest& request, unsigned seed) : request_(request), random_(seed) {}

  void Mutate() {
    for (uint32_t i = 1 + Below(3); i > 0; --i) MutateOnce();
    if (Below(3) != 0) FitRaw();
  }

 private:
  uint32_t Below(uint32_t bound) { return random_() % bound; }

  template <typename T>
  const T& OneOf(const std::vector<T>& list) {
    return list[Below(static_cast<uint32_t>(list.size()))];
  }

  int64_t Int() {
    static const std::vector<int64_t> edges = {0,
                                               1,
                                               -1,
                                               2,
                                               3,
                                               4,
                                               5,
                                               7,
                                               8,
                                               9,
                                               16,
                                               63,
                                               64,
                                               65,
                                               255,
                                               4097,
                                               int64_t{1} << 31,
                                               int64_t{1} << 32,
                                               int64_t{1} << 59,
                                               int64_t{1} << 61,
                                               int64_t{1} << 62,
                                               std::numeric_limits<int64_t>::max(),
                                               std::numeric_limits<int64_t>::min()};
    return Below(2) == 0 ? OneOf(edges) : static_cast<int64_t>(Below(6));
  }

  double Float() {
    static const std::vector<double> edges = {0.0,   -0.0,     1.0, 0.5,    -1.0,    1e-310,
                                              1e300, INFINITY, NAN, 3.4e38, 65504.0, 1e-8};
    return OneOf(edges);
  }

  const Operator& Op() {
    const auto all = AllOperators();
    return *all[Below(static_cast<uint32_t>(all.size()))];
  }

  // The call's own operator where it has one.
  const Operator& Callee() {
    const auto found = FindOperator(request_.call().op());
    return found.ok() ? **found : Op();
  }

  std::string AttributeOf(const Operator& op) {
    if (op.attributes.empty()) return "nothing";
    return std::string(op.attributes[Below(static_cast<uint32_t>(op.attributes.size()))].name);
  }

  template <typename T>
  T* Any(google::protobuf::RepeatedPtrField<T>& list) {
    return list.empty() ? nullptr
                        : &list[static_cast<int>(Below(static_cast<uint32_t>(list.size())))];
  }

  void MutateOnce() {
    v1::Call& call = *request_.mutable_call();
    if (call.has_program() && Below(2) == 0) return MutateProgram(call);
    switch (Below(8)) {
      case 0:
        if (v1::Attribute* attribute = Any(*call.mutable_attributes())) SetValue(*attribute);
        return;
      case 1:
        return MutateLists(call);
      case 2:
        return MutateCall(call);
      case 3:
        return MutateOutputs(call);
      default:
        if (v1::Tensor* tensor = Any(*call.mutable_inputs())) MutateTensor(*tensor);
    }
  }

  // A value by its name, of the call or of a step.
  std::string AnyValue(v1::Call& call) {
    if (const v1::Step* step = Any(*call.mutable_program()->mutable_steps());
        step != nullptr && Below(3) != 0)
      return step->name();
    const v1::Tensor* const input = Any(*call.mutable_inputs());
    return input == nullptr ? "nothing" : input->name();
  }

  void MutateProgram(v1::Call& call) {
    v1::Program& program = *call.mutable_program();
    v1::GradientRequest& gradient = *program.mutable_gradient();
    switch (Below(8)) {
      case 0:
        return gradient.set_of(AnyValue(call));
      case 1:
        return gradient.add_with_respect_to(AnyValue(call));
      case 2:
        return program.clear_gradient();
      case 3: {
        v1::ProgramOutput& output = *program.add_outputs();
        output.set_name("out" + std::to_string(Below(9)));
        return output.set_value(AnyValue(call));
      }
      case 4:
        if (v1::Step* step = Any(*program.mutable_steps())) {
          v1::Step copy(*step);
          copy.set_name("step" + std::to_string(Below(99)));
          *program.add_steps() = copy;
        }
        return;
      default:
        if (v1::Step* step = Any(*program.mutable_steps())) MutateStep(call, *step);
    }
  }

  void MutateStep(v1::Call& call, v1::Step& step) {
    v1::Attribute* const attribute = Any(*step.mutable_attributes());
    v1::Tensor* const input = Any(*step.mutable_inputs());
    switch (Below(6)) {
      case 0:
        return step.set_op(std::string(Op().name));
      case 1:
        if (attribute != nullptr) SetValue(*attribute);
        return;
      case 2:
        if (input != nullptr) MutateDims(*input->mutable_shape());
        return;
      case 3:
        if (input != nullptr) MutateTensor(*input);
        return;
      default:
        if (input != nullptr) input->set_value(AnyValue(call));
    }
  }

  void MutateTensor(v1::Tensor& tensor) {
    switch (Below(8)) {
      case 0:
        return tensor.set_dtype(static_cast<v1::DataType>(Below(15)));
      case 1:
        return MutateDims(*tensor.mutable_shape());
      case 2:
        tensor.clear_strides();
        for (int i = 0; i < tensor.shape_size(); ++i) tensor.add_strides(Below(4));
        return;
      case 3:
        return MutateDims(*tensor.mutable_strides());
      case 4:
        return tensor.set_storage_offset(Int());
      case 5:
        return tensor.set_raw_index(Below(static_cast<uint32_t>(request_.raw_size()) + 1));
      case 6:
        return SetValues(tensor);
      default:
        tensor.clear_strides();
        tensor.clear_storage_offset();
    }
  }

  void MutateDims(google::protobuf::RepeatedField<int64_t>& dims) {
    switch (Below(4)) {
      case 0:
        return dims.Add(Int());
      case 1:
        if (!dims.empty()) dims.RemoveLast();
        return;
      default:
        if (!dims.empty())
          dims.Set(static_cast<int>(Below(static_cast<uint32_t>(dims.size()))), Int());
    }
  }

  void SetValues(v1::Tensor& tensor) {
    v1::TensorValues& values = *tensor.mutable_values();
    const uint32_t count = Below(9);
    const uint32_t list = Below(4);
    for (uint32_t i = 0; i < count; ++i) {
      if (list == 0) values.add_floats(Float());
      if (list == 1) values.add_ints(Int());
      if (list == 2) values.add_uints(static_cast<uint64_t>(Int()));
      if (list == 3) values.add_bools(Below(2) == 0);
    }
  }

  void SetValue(v1::Attribute& attribute) {
    const uint32_t count = Below(5);
    switch (Below(6)) {
      case 0:
        return attribute.set_int_value(Int());
      case 1:
        return attribute.set_float_value(Float());
      case 2:
        return attribute.set_bool_value(Below(2) == 0);
      case 3:
        attribute.mutable_int_list();
        for (uint32_t i = 0; i < count; ++i) attribute.mutable_int_list()->add_values(Int());
        return;
      case 4:
        attribute.mutable_bool_list();
        for (uint32_t i = 0; i < count; ++i)
          attribute.mutable_bool_list()->add_values(Below(2) == 0);
        return;
      default:
        attribute.mutable_float_list()->add_values(Float());
    }
  }

  // Leaves out, repeats, renames.
  void MutateLists(v1::Call& call) {
    const Operator& op = Callee();
    auto& inputs = *call.mutable_inputs();
    auto& attributes = *call.mutable_attributes();
    switch (Below(5)) {
      case 0:
        if (!inputs.empty())
          inputs.DeleteSubrange(static_cast<int>(Below(static_cast<uint32_t>(inputs.size()))), 1);
        return;
      case 1:
        if (!attributes.empty()) attributes.RemoveLast();
        return;
      case 2: {
        v1::Attribute& attribute = *attributes.Add();
        attribute.set_name(AttributeOf(op));
        return SetValue(attribute);
      }
      case 3: {
        v1::Tensor& tensor = *inputs.Add();
        tensor.set_name(
            std::string(op.inputs[Below(static_cast<uint32_t>(op.inputs.size()))].name));
        tensor.set_dtype(v1::DATA_TYPE_FLOAT32);
        return SetValues(tensor);
      }
      default:  // an attribute as a tensor
        if (v1::Tensor* tensor = Any(inputs)) tensor->set_name(AttributeOf(op));
    }
  }

  void MutateCall(v1::Call& call) {
    switch (Below(3)) {
      case 0:
        return call.set_op(std::string(Op().name));
      case 1:
        return call.set_device("cpu:" + std::to_string(Below(6)));
      default:
        request_.set_output_encoding(static_cast<v1::TensorEncoding>(Below(4)));
    }
  }

  void MutateOutputs(v1::Call& call) {
    const Operator& op = Callee();
    v1::Tensor& output = *call.add_outputs();
    output.set_name(std::string(op.outputs[Below(static_cast<uint32_t>(op.outputs.size()))].name));
    if (Below(2) == 0) output.set_dtype(static_cast<v1::DataType>(Below(14)));
    for (uint32_t i = Below(4); i > 0; --i) MutateDims(*output.mutable_shape());
  }

  // Makes raw entries as long as the tensors that use them say.
  void FitRaw() {
    for (const v1::Tensor& tensor : request_.call().inputs()) {
      if (!tensor.has_raw_index()) continue;
      while (static_cast<uint32_t>(request_.raw_size()) <= std::min(tensor.raw_index(), 8U))
        request_.add_raw("");
      if (tensor.raw_index() > 8) continue;
      std::string& entry = *request_.mutable_raw(static_cast<int>(tensor.raw_index()));
      entry.resize(std::min(kMaxRawBytes, BytesOf(tensor)), static_cast<char>(Below(256)));
    }
  }

  static size_t BytesOf(const v1::Tensor& tensor) {
    if (!v1::DataType_IsValid(tensor.dtype())) return 0;
    int64_t count = 1;
    for (int i = 0; i < tensor.shape_size(); ++i) {
      const int64_t extent = std::clamp<int64_t>(tensor.shape(i), 0, 4096);
      if (tensor.strides_size() != tensor.shape_size()) {
        count = std::min<int64_t>(count * extent, 4096);
      } else {
        count = std::min<int64_t>(
            count + (extent - 1) * std::clamp<int64_t>(tensor.strides(i), 0, 64), 4096);
      }
    }
    count += std::clamp<int64_t>(tensor.storage_offset(), 0, 64);
    return static_cast<size_t>(std::max<int64_t>(count, 0)) *
           DTypeSize(static_cast<DType>(tensor.dtype()));
  }

  v1::ExecuteRequest& request_;
  std::minstd_rand random_;
};

// One call changed, with the raw entries of all; at times left out, or there once more.
void MutateBatch(v1::ExecuteBatchRequest& batch, unsigned seed) {
  if (batch.calls().empty()) batch.add_calls();
  const int index = static_cast<int>(seed / 16 % static_cast<unsigned>(batch.calls_size()));
  if (seed % 16 == 1) return batch.mutable_calls()->DeleteSubrange(index, 1);
  if (seed % 16 == 3) {
    *batch.add_calls() = v1::Call(batch.calls(index));
    return;
  }
  v1::ExecuteRequest single;
  *single.mutable_call() = batch.calls(index);
  single.set_output_encoding(batch.output_encoding());
  single.mutable_raw()->Swap(batch.mutable_raw());
  Mutator(single, seed).Mutate();
  *batch.mutable_calls(index) = single.call();
  batch.set_output_encoding(single.output_encoding());
  batch.mutable_raw()->Swap(single.mutable_raw());
}

// Changes the message behind the control bytes where it is one and the seed is odd.
template <typename Message, typename Change>
size_t MutateMessage(uint8_t* data, size_t size, size_t max_size, unsigned seed, Change change) {
  Message message;
  if (seed % 2 == 0 || size < kControlBytes ||
      !message.ParseFromArray(data + kControlBytes, static_cast<int>(size - kControlBytes))) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  change(message);
  const size_t bytes = message.ByteSizeLong();
  if (kControlBytes + bytes > max_size) return LLVMFuzzerMutate(data, size, max_size);
  message.SerializeToArray(data + kControlBytes, static_cast<int>(bytes));
  return kControlBytes + bytes;
}

}  // namespace

size_t MutateExecuteInput(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return MutateMessage<v1::ExecuteRequest>(
      data, size, max_size, seed,
      [seed](v1::ExecuteRequest& request) { Mutator(request, seed).Mutate(); });
}

size_t MutateBatchInput(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return MutateMessage<v1::ExecuteBatchRequest>(
      data, size, max_size, seed,
      [seed](v1::ExecuteBatchRequest& batch) { MutateBatch(batch, seed); });
}

}  // namespace opserve::fuzz
