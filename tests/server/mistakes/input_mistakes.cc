// Mistakes in inputs that every operator refuses alike.
#include <algorithm>
#include <limits>

#include "core/tensor/shape.h"
#include "tests/server/mistakes/malformed_calls.h"

namespace opserve::testing {
namespace {

// One input of an operator.
struct Target {
  const Operator& op;
  size_t index;
  MistakeList& list;

  const TensorParam& param() const { return op.inputs[index]; }
  std::string name() const { return std::string(param().name); }
  std::vector<int64_t> shape() const {
    Request copy = list.good();
    return ShapeOf(InputOf(copy, param().name));
  }

  // A change of this tensor alone; its bytes stay.
  MalformedCall& Tensor(const std::string& label, const std::function<void(v1::Tensor&)>& spoil) {
    return list.Add(name() + "_" + label, param().name,
                    [&](Request& request) { spoil(InputOf(request, param().name)); });
  }
  MalformedCall& Shape(const std::string& label, const std::vector<int64_t>& extents) {
    return Tensor(label, [&](v1::Tensor& tensor) { SetShape(tensor, extents); });
  }
  MalformedCall& Strides(const std::string& label, const std::vector<int64_t>& strides) {
    return Tensor(label, [&](v1::Tensor& tensor) { SetStrides(tensor, strides); });
  }
  // A change of its bytes: nothing that a plan sees.
  void Bytes(const std::string& label, const std::function<void(std::string&)>& spoil) {
    list.Add(name() + "_" + label, param().name,
             [&](Request& request) { spoil(BytesOfInput(request, param().name)); })
        .in_plan = false;
  }
};

void AddNames(Target& target) {
  const std::string name = target.name();
  if (target.param().presence == Presence::kRequired) {
    target.list
        .Add(name + "_missing", name,
             [&](Request& request) {
               auto& inputs = *request.mutable_call()->mutable_inputs();
               const auto is_it = [&](const v1::Tensor& tensor) { return tensor.name() == name; };
               inputs.erase(std::find_if(inputs.begin(), inputs.end(), is_it));
             })
        .code = "161001";
  }
  target.list.Add(name + "_twice", name, [&](Request& request) {
    *request.mutable_call()->add_inputs() = InputOf(request, name);
  });
  for (const std::string& wrong : {name + "_", "x" + name, std::string("nonsense"),
                                   std::string("\xe2\x88\x82"), std::string(256, 'n')}) {
    target.Tensor("called_" + wrong, [&](v1::Tensor& tensor) { tensor.set_name(wrong); })
        .parameter = wrong;
  }
  target.Tensor("nameless", [](v1::Tensor& tensor) { tensor.clear_name(); }).parameter = "input";
  target
      .Tensor("named_too_long", [](v1::Tensor& tensor) { tensor.set_name(std::string(257, 'n')); })
      .parameter = "input";
}

// Bytes go with the dtype, so that only the dtype is wrong.
void AddDTypes(Target& target) {
  for (int number = 1; number < kNumDTypes; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (target.param().dtypes.Contains(dtype)) continue;
    MalformedCall& call =
        target.list.Add(target.name() + "_of_" + std::string(DTypeName(dtype)), target.param().name,
                        [&](Request& request) { Retype(request, target.param().name, dtype); });
    if (!target.op.name.starts_with("L1Loss")) continue;
    // Its inputs are promoted together: the error is about what they promote to (float64), or about
    // the second that does not go with the first.
    if (dtype == DType::kFloat64) call.parameter = target.op.inputs[0].name;
    if (dtype != DType::kFloat64 && target.index == 0) call.parameter = target.op.inputs[1].name;
  }
  for (const int number : {0, kNumDTypes, 99, -1, std::numeric_limits<int>::min()}) {
    target.Tensor("of_dtype_" + std::to_string(number),
                  [&](v1::Tensor& tensor) { tensor.set_dtype(static_cast<v1::DataType>(number)); });
  }
}

void AddShapes(Target& target) {
  std::vector<int64_t> nine = target.shape();
  nine.insert(nine.begin(), 9 - nine.size(), 1);
  target.Shape("of_rank_9", nine);
  target.Shape("of_rank_65", std::vector<int64_t>(65, 1));
  target.Shape("of_rank_100000", std::vector<int64_t>(100000, 1));
  for (size_t i = 0; i < target.shape().size(); ++i) {
    std::vector<int64_t> shape = target.shape();
    for (const int64_t extent : {int64_t{-1}, kMin}) {
      shape[i] = extent;
      target.Shape("with_extent_" + std::to_string(extent) + "_at_" + std::to_string(i), shape);
    }
  }
  target.Shape("of_2_to_63_elements", {int64_t{1} << 62, 2});
  target.Shape("of_2_to_64_elements", {int64_t{1} << 32, int64_t{1} << 32});
  target.Shape("of_2_to_126_elements", {int64_t{1} << 62, int64_t{1} << 62, 4});
  target.Shape("of_max_elements", {kMax});
  target.Shape("of_max_by_max_elements", {kMax, kMax});
  target.Shape("of_too_many_bytes", {int64_t{1} << 62});
  // 0 elements, but not in [-1, 0].
  target.Shape("empty_and_negative", {0, -1});
}

void AddLayouts(Target& target) {
  const std::vector<int64_t> shape = target.shape();
  const Dims dense = DenseStrides(shape);
  const std::vector<int64_t> strides(dense.begin(), dense.end());
  std::vector<int64_t> changed = strides;
  changed.push_back(1);
  target.Strides("with_a_stride_too_many", changed);
  target.Strides("with_65_strides", std::vector<int64_t>(65, 1));
  target.Strides("with_100000_strides", std::vector<int64_t>(100000, 1));
  if (shape.size() > 1) target.Strides("with_a_stride_too_few", {1});
  for (size_t i = 0; i < shape.size(); ++i) {
    changed = strides;
    for (const int64_t stride : {int64_t{-1}, kMin}) {
      changed[i] = stride;
      target.Strides("with_stride_" + std::to_string(stride) + "_at_" + std::to_string(i), changed);
    }
    if (shape[i] < 2) continue;
    changed[i] = strides[i] + 1;
    target.Strides("leaving_its_storage_at_" + std::to_string(i), changed).in_plan = false;
    changed[i] = kMax;
    target.Strides("with_stride_max_at_" + std::to_string(i), changed);
    changed[i] = int64_t{1} << 62;
    target.Strides("with_stride_2_to_62_at_" + std::to_string(i), changed);
  }
  const auto offset = [&](const std::string& label, int64_t value) -> MalformedCall& {
    return target.Tensor(label, [&](v1::Tensor& tensor) { tensor.set_storage_offset(value); });
  };
  offset("at_offset_1", 1).in_plan = false;
  offset("at_offset_2_to_40", int64_t{1} << 40).in_plan = false;
  offset("at_offset_max", kMax);
  offset("at_offset_2_to_62", int64_t{1} << 62);
  offset("at_offset_minus_1", -1);
  offset("at_offset_min", kMin);
}

void AddBytes(Target& target) {
  target.Bytes("a_byte_short", [](std::string& bytes) { bytes.pop_back(); });
  target.Bytes("a_byte_long", [](std::string& bytes) { bytes.push_back('x'); });
  target.Bytes("an_element_long", [](std::string& bytes) { bytes.append(8, 'x'); });
  target.Bytes("half", [](std::string& bytes) { bytes.resize(bytes.size() / 2); });
  target.Bytes("without_bytes", [](std::string& bytes) { bytes.clear(); });
  MalformedCall& view = target.Strides("in_a_storage_of_partial_elements",
                                       std::vector<int64_t>(target.shape().size(), 0));
  view.in_plan = false;
  BytesOfInput(view.request, target.param().name).push_back('x');
}

// Takes the tensor's raw entry out of the request.
void DropRaw(Request& request, std::string_view name) {
  const uint32_t dropped = InputOf(request, name).raw_index();
  request.mutable_raw()->DeleteSubrange(static_cast<int>(dropped), 1);
  for (v1::Tensor& tensor : *request.mutable_call()->mutable_inputs()) {
    if (tensor.raw_index() > dropped) tensor.set_raw_index(tensor.raw_index() - 1);
  }
}

void AddValues(Target& target) {
  const auto add = [&](const std::string& label,
                       const std::function<void(v1::TensorValues&)>& fill) {
    target.list
        .Add(target.name() + "_" + label, target.param().name,
             [&](Request& request) {
               DropRaw(request, target.param().name);
               fill(*InputOf(request, target.param().name).mutable_values());
             })
        .in_plan = false;
  };
  const bool is_single = NumElements(target.shape()) == 1;
  if (!is_single) add("of_one_value", [](v1::TensorValues& values) { values.add_ints(1); });
  add("of_no_values", [](v1::TensorValues&) {});
  add("of_two_lists", [](v1::TensorValues& values) {
    values.add_ints(1);
    values.add_floats(1);
  });
  if (is_single) return;
  add("of_uints", [](v1::TensorValues& values) { values.add_uints(1); });
  add("of_bools", [](v1::TensorValues& values) { values.add_bools(true); });
}

void AddData(Target& target) {
  MalformedCall& none = target.Tensor("without_data", [](v1::Tensor& t) { t.clear_data(); });
  none.code = "161001";
  none.in_plan = false;
  for (const uint32_t index : {uint32_t{16}, std::numeric_limits<uint32_t>::max()}) {
    target
        .Tensor("at_raw_" + std::to_string(index),
                [&](v1::Tensor& tensor) { tensor.set_raw_index(index); })
        .in_plan = false;
  }
}

}  // namespace

MalformedCalls InputMistakes(const Operator& op) {
  MistakeList list(op);
  const v1::ExecuteRequest good = list.good();
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const auto is_it = [&](const v1::Tensor& tensor) { return tensor.name() == op.inputs[i].name; };
    if (std::none_of(good.call().inputs().begin(), good.call().inputs().end(), is_it)) continue;
    Target target{op, i, list};
    AddNames(target);
    AddDTypes(target);
    AddShapes(target);
    AddLayouts(target);
    AddBytes(target);
    AddData(target);
    AddValues(target);
  }
  return list.Take();
}

}  // namespace opserve::testing
