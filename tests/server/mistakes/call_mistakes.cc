// Mistakes in attributes, outputs and the call around them that every operator refuses alike.
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/tensor/shape.h"
#include "tests/server/mistakes/malformed_calls.h"

namespace opserve::testing {
namespace {

void Erase(Request& request, std::string_view attribute) {
  auto& attributes = *request.mutable_call()->mutable_attributes();
  for (int i = 0; i < attributes.size(); ++i) {
    if (attributes[i].name() != attribute) continue;
    attributes.DeleteSubrange(i, 1);
    return;
  }
}

struct LabelledValue {
  std::string label;
  AttributeValue value;
};

// A value of each kind, and the empty lists.
const std::vector<LabelledValue>& AllValues() {
  static const std::vector<LabelledValue> values = {
      {"nothing", std::monostate()},
      {"an_int", int64_t{1}},
      {"a_float", 1.0},
      {"a_bool", true},
      {"ints", std::vector<int64_t>{1, 2, 3}},
      {"bools", std::vector<bool>{true, true, true}},
      {"floats", std::vector<double>{1, 2, 3}},
      {"an_empty_list", std::vector<double>{}},
      {"a_string", std::string("nonsense")},
      {"an_empty_string", std::string()},
      {"a_string_that_is_too_long", std::string(257, 'n')},
  };
  return values;
}

bool IsOfKind(AttributeKind kind, AttributeValue value) {
  return IsGiven(value) && ConvertAttribute(kind, value);
}

void AddAttributeNames(MistakeList& list, const AttributeParam& param) {
  const std::string name(param.name);
  if (param.default_value.kind == AttributeDefault::Kind::kNone) {
    list.Add(name + "_missing", name, [&](Request& r) { Erase(r, name); }).code = "161001";
  }
  list.Add(name + "_twice", name,
           [&](Request& r) { *r.mutable_call()->add_attributes() = AttributeOf(r, name); });
  for (const std::string& wrong :
       {absl::StrCat(name, "_"), absl::StrCat("x", name), std::string("nonsense"),
        std::string("\n"), std::string(256, 'n')}) {
    list.Add(absl::StrCat(name, "_called_", wrong), wrong,
             [&](Request& r) { AttributeOf(r, name).set_name(wrong); });
  }
  list.Add(name + "_nameless", "attribute", [&](Request& r) { AttributeOf(r, name).clear_name(); });
  list.Add(name + "_named_too_long", "attribute",
           [&](Request& r) { AttributeOf(r, name).set_name(std::string(257, 'n')); });
}

void AddAttributeKinds(MistakeList& list, const AttributeParam& param) {
  for (const auto& [label, value] : AllValues()) {
    if (IsOfKind(param.kind, value)) continue;
    list.Add(std::string(param.name) + "_is_" + label, param.name, [&, &value = value](Request& r) {
      AttributeOf(r, param.name) = ToAttribute(param.name, value);
    });
  }
}

// The attribute as a tensor of one int64 of shape `shape` in a raw entry of its own.
v1::Tensor& AsTensor(Request& request, std::string_view name, const std::vector<int64_t>& shape) {
  Erase(request, name);
  v1::Tensor& tensor = *request.mutable_call()->add_inputs();
  tensor.set_name(std::string(name));
  tensor.set_dtype(v1::DATA_TYPE_INT64);
  SetShape(tensor, shape);
  tensor.set_raw_index(static_cast<uint32_t>(request.raw_size()));
  request.add_raw(std::string(8, '\0'));
  return tensor;
}

void AddAttributeTensors(MistakeList& list, const AttributeParam& param) {
  const auto add = [&](const std::string& label,
                       const MistakeList::Spoil& spoil) -> MalformedCall& {
    MalformedCall& call =
        list.Add(std::string(param.name) + "_as_tensor_" + label, param.name, spoil);
    call.in_plan = false;
    return call;
  };
  add("too", [&](Request& r) {
    const v1::Attribute attribute = AttributeOf(r, param.name);
    AsTensor(r, param.name, {});
    *r.mutable_call()->add_attributes() = attribute;
  });
  add("of_rank_2", [&](Request& r) { AsTensor(r, param.name, {1, 1}); });
  add("of_negative_extent", [&](Request& r) { AsTensor(r, param.name, {-1}); });
  add("of_2_to_62_elements", [&](Request& r) { AsTensor(r, param.name, {int64_t{1} << 59}); });
  add("of_2_to_25_elements",
      [&](Request& r) { SetStrides(AsTensor(r, param.name, {1 << 25}), {1}); });
  add("with_strides", [&](Request& r) { SetStrides(AsTensor(r, param.name, {2}), {0}); });
  add("at_offset", [&](Request& r) { AsTensor(r, param.name, {}).set_storage_offset(1); });
  add("without_dtype", [&](Request& r) { AsTensor(r, param.name, {}).clear_dtype(); });
  add("of_too_few_bytes", [&](Request& r) {
    AsTensor(r, param.name, {});
    r.mutable_raw()->rbegin()->pop_back();
  });
  add("at_raw_99", [&](Request& r) { AsTensor(r, param.name, {}).set_raw_index(99); });
  add("without_data", [&](Request& r) { AsTensor(r, param.name, {}).clear_data(); }).code =
      "161001";
  add("above_int64", [&](Request& r) {
    v1::Tensor& tensor = AsTensor(r, param.name, {});
    tensor.set_dtype(v1::DATA_TYPE_UINT64);
    tensor.mutable_values()->add_uints(std::numeric_limits<uint64_t>::max());
    r.mutable_raw()->RemoveLast();
  });
}

void AddOutputs(MistakeList& list, const TensorParam& param) {
  const std::string name(param.name);
  const auto add = [&](const std::string& label,
                       const std::function<void(v1::Tensor&)>& spoil) -> MalformedCall& {
    return list.Add(name + "_" + label, name, [&](Request& request) {
      v1::Tensor& output = *request.mutable_call()->add_outputs();
      output.set_name(name);
      spoil(output);
    });
  };
  for (const int dtype :
       {int{v1::DATA_TYPE_INT32}, int{v1::DATA_TYPE_BOOL}, int{v1::DATA_TYPE_UINT64}, 14, -1}) {
    if (dtype == v1::DATA_TYPE_INT32 && param.dtypes.Contains(DType::kInt32)) continue;
    add("of_dtype_" + std::to_string(dtype),
        [&](v1::Tensor& output) { output.set_dtype(static_cast<v1::DataType>(dtype)); });
  }
  const std::vector<std::vector<int64_t>> shapes = {
      {7, 7, 7}, {-1}, {0}, {int64_t{1} << 62, int64_t{1} << 62}, {1, 1, 1, 1, 1, 1, 1, 1, 1}};
  for (const std::vector<int64_t>& shape : shapes) {
    // What is never computed is empty.
    if (param.shape == "(0)" && shape == std::vector<int64_t>{0}) continue;
    add("of_shape_" + ShapeToString(shape), [&](v1::Tensor& output) { SetShape(output, shape); });
  }
  add("of_rank_65", [](v1::Tensor& output) { SetShape(output, std::vector<int64_t>(65, 1)); });
  add("with_strides", [](v1::Tensor& output) { SetStrides(output, {1}); });
  add("at_offset", [](v1::Tensor& output) { output.set_storage_offset(1); });
  add("with_raw_index", [](v1::Tensor& output) { output.set_raw_index(0); });
  add("with_values", [](v1::Tensor& output) { output.mutable_values()->add_floats(1); });
  add("called_wrongly", [](v1::Tensor& output) { output.set_name("nonsense"); }).parameter =
      "nonsense";
  add("nameless", [](v1::Tensor& output) { output.clear_name(); }).parameter = "output";
  add("named_too_long", [](v1::Tensor& output) {
    output.set_name(std::string(300, 'o'));
  }).parameter = "output";
  MalformedCall& twice = add("twice", [](v1::Tensor&) {});
  *twice.request.mutable_call()->add_outputs() = twice.request.call().outputs(0);
}

void AddNotFound(MistakeList& list, const std::string& label, const std::string& parameter,
                 const MistakeList::Spoil& spoil) {
  MalformedCall& call = list.Add(label, parameter, spoil);
  call.code = "";
  call.status = "NOT_FOUND";
}

}  // namespace

MalformedCalls AttributeMistakes(const Operator& op) {
  MistakeList list(op);
  list.Add("an_attribute_too_many", "nonsense", [](Request& r) {
    *r.mutable_call()->add_attributes() = ToAttribute("nonsense", int64_t{1});
  });
  for (const AttributeParam& param : op.attributes) {
    AddAttributeNames(list, param);
    AddAttributeKinds(list, param);
    AddAttributeTensors(list, param);
  }
  return list.Take();
}

MalformedCalls CallMistakes(const Operator& op) {
  MistakeList list(op);
  for (const TensorParam& param : op.outputs) AddOutputs(list, param);
  const std::string name(op.name);
  for (const std::string& wrong : {std::string(), name + "X", name.substr(1), "aclnn" + name,
                                   std::string("nonsense"), std::string(1000, 'n')}) {
    AddNotFound(list, "operator_" + wrong, "operator",
                [&](Request& r) { r.mutable_call()->set_op(wrong); });
  }
  for (const std::string& wrong : {std::string("cpu"), std::string("cpu:1"), std::string("CPU:0"),
                                   std::string("npu:0"), std::string(1000, 'd')}) {
    AddNotFound(list, "device_" + wrong, "device",
                [&](Request& r) { r.mutable_call()->set_device(wrong); });
  }
  for (const int encoding : {3, -1, std::numeric_limits<int>::max()}) {
    list.Add("encoding_" + std::to_string(encoding), "output_encoding",
             [&](Request& r) { r.set_output_encoding(static_cast<v1::TensorEncoding>(encoding)); })
        .in_plan = false;
  }
  list.Add("raw_entry_unused", "raw", [](Request& r) { r.add_raw("x"); }).in_plan = false;
  list.Add("raw_entry_unused_and_empty", "raw", [](Request& r) { r.add_raw(""); }).in_plan = false;
  list.Add("raw_entries_by_the_thousand", "message",
           [](Request& r) {
             for (int i = 0; i < 5000; ++i) r.add_raw("");
           })
      .in_plan = false;
  return list.Take();
}

}  // namespace opserve::testing
