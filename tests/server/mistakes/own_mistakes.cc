// Mistakes that each operator's own checks refuse.
#include <cmath>
#include <limits>

#include "core/tensor/shape.h"
#include "tests/server/mistakes/own_mistakes.h"

namespace opserve::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Inputs that do not broadcast: the error is about the first that does not go with those before it.
void AddBroadcast(MistakeList& list, const Operator& op) {
  if (op.inputs.size() < 2) return;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const std::string_view blamed = op.inputs[i == 0 ? 1 : i].name;
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
             {3}, {2, 4}, {4, 3}, {8}, {0}, {4, 0}, {5, 1}, {2, 4, 3}})
      AddShape(list, op.inputs[i].name, shape, blamed);
  }
}

// Views of one element each, in which a few bytes stand for more than can be counted.
void AddUncountable(MistakeList& list, const Operator& op, const MistakeList::Spoil& spoil) {
  const auto view = [&op](Request& r, size_t input, const std::vector<int64_t>& shape) {
    Reshape(r, op.inputs[input].name, {1});
    v1::Tensor& tensor = InputOf(r, op.inputs[input].name);
    SetShape(tensor, shape);
    SetStrides(tensor, std::vector<int64_t>(shape.size(), 0));
  };
  constexpr int64_t kHuge = int64_t{1} << 59;
  list.Add("broadcast_of_2_to_118_elements", op.inputs[1].name, [&](Request& r) {
    spoil(r);
    for (size_t i = 0; i < op.inputs.size(); ++i)
      view(r, i, i == 0 ? std::vector{kHuge, int64_t{1}} : std::vector{int64_t{1}, kHuge});
  });
  list.Add("broadcast_of_2_to_60_elements", op.inputs[1].name, [&](Request& r) {
    spoil(r);
    for (size_t i = 0; i < op.inputs.size(); ++i)
      view(r, i, i == 0 ? std::vector{kHuge, int64_t{1}} : std::vector{int64_t{1}, int64_t{2}});
  });
  if (op.inputs.size() < 3) return;
  list.Add("inputs_of_2_to_63_bytes_together", "inputs", [&](Request& r) {
    spoil(r);
    for (size_t i = 0; i < op.inputs.size(); ++i) view(r, i, {2 * kHuge - 1});
  });
}

void AddLoss(MistakeList& list, const Operator& op) {
  for (const int64_t reduction : {int64_t{-1}, int64_t{4}, kMax, kMin})
    AddAttribute(list, "reduction", reduction);
  if (op.FindAttribute("beta") >= 0) {
    for (const double beta : {-1.0, -1e-300, -kInfinity, std::nan("")})
      AddAttribute(list, "beta", beta);
    AddAttribute(list, "beta", int64_t{-1});
  } else {
    // Integers alone promote to none that the operator computes in.
    for (const DType dtype : {DType::kInt32, DType::kBool}) {
      list.Add("all_of_" + std::string(DTypeName(dtype)), op.inputs[0].name, [&](Request& r) {
        for (const TensorParam& param : op.inputs) Retype(r, param.name, dtype);
      });
    }
  }
  AddBroadcast(list, op);
  for (const int64_t reduction : {0, 1, 2}) {
    AddUncountable(list, op,
                   [&](Request& r) { AttributeOf(r, "reduction").set_int_value(reduction); });
  }
}

// What follows from the schema of an element-wise operator.
void AddElementwise(MistakeList& list, const Operator& op) {
  for (const AttributeParam& param : op.attributes) {
    if (param.kind == AttributeKind::kScalar)
      AddAttribute(list, param.name, std::vector<double>{0.5});
  }
  list.Add("all_of_int32", op.inputs[0].name, [&](Request& r) {
    for (const TensorParam& param : op.inputs) Retype(r, param.name, DType::kInt32);
  });
  if (op.inputs.size() < 2) return;
  AddBroadcast(list, op);
  AddUncountable(list, op, [](Request&) {});
}

// The buffer has self's shape or no elements; the others are broadcast.
void AddLogSigmoidBackward(MistakeList& list) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{3}, {4, 3}, {8}, {2, 4, 3}}) {
    AddShape(list, "grad_output", shape, "self");
    AddShape(list, "self", shape);
    AddShape(list, "buffer", shape);
  }
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{1}, {4, 1}, {2, 4}, {1, 4, 2}})
    AddShape(list, "buffer", shape);
  AddDType(list, "buffer", DType::kInt32);
}

void AddGroupNorm(MistakeList& list, const Operator& op) {
  for (const std::string_view name : {"N", "C", "HxW"}) {
    AddAttribute(list, name, int64_t{-1});
    AddAttribute(list, name, kMin);
  }
  for (const int64_t group : {int64_t{0}, int64_t{-1}, kMin, int64_t{4}, int64_t{7}, kMax})
    AddAttribute(list, "group", group);
  const std::string_view data = op.inputs[0].name;
  AddAttribute(list, "N", int64_t{3}, data);
  AddAttribute(list, "N", kMax, data);
  AddAttribute(list, "C", int64_t{9}, data);
  AddAttribute(list, "HxW", int64_t{34}, data);
  AddAttribute(list, "HxW", kMax, data);
  if (op.FindAttribute("eps") >= 0) {
    for (const double eps : {0.0, -1.0, -kInfinity, std::nan("")}) AddAttribute(list, "eps", eps);
  }
  if (op.FindAttribute("output_mask") >= 0) {
    for (const size_t entries : {0, 1, 2, 4})
      AddAttribute(list, "output_mask", std::vector<bool>(entries, true));
  }
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {5}, {0}, {2, 6, 36}})
      AddShape(list, op.inputs[i].name, shape);
    // The others are held against the first.
    AddDType(list, op.inputs[i].name, DType::kBFloat16, op.inputs[i == 0 ? 1 : i].name);
  }
  for (const TensorParam& output : op.outputs) {
    list.Add(std::string(output.name) + "_of_another_float", output.name, [&](Request& r) {
      v1::Tensor& tensor = *r.mutable_call()->add_outputs();
      tensor.set_name(std::string(output.name));
      tensor.set_dtype(v1::DATA_TYPE_FLOAT16);
    });
  }
}

// Of the case "usual": T = 12, N = 3, C = 7, padded targets [3, 5] with lengths of 4.
void AddCtcAttributes(MistakeList& list) {
  using Ints = std::vector<int64_t>;
  for (const int64_t blank : {int64_t{-1}, int64_t{7}, kMax, kMin})
    AddAttribute(list, "blank", blank);
  for (const Ints& lengths : {Ints{}, Ints{12, 12}, Ints{12, 12, 12, 12}, Ints{12, -1, 12},
                              Ints{12, 12, 13}, Ints{kMax, 12, 12}, Ints{12, 12, kMin}}) {
    AddAttribute(list, "input_lengths", lengths);
  }
  for (const Ints& lengths : {Ints{4, 4}, Ints{4, 4, 4, 4}, Ints{4, -1, 4}, Ints{kMin, 4, 4}})
    AddAttribute(list, "target_lengths", lengths);
  for (const Ints& lengths : {Ints{4, 6, 4}, Ints{4, 4, kMax}, Ints{kMax, kMax, kMax}})
    AddAttribute(list, "target_lengths", lengths, "targets");
}

void AddCtcShapes(MistakeList& list, const Operator& op) {
  AddShape(list, "log_probs", {12, 3});
  AddShape(list, "log_probs", {0, 3, 7});
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{}, {1, 3, 5}, {3, 3}, {2, 5}, {4, 5}, {11}, {13}, {0}})
    AddShape(list, "targets", shape);
  if (op.FindInput("grad_out") < 0) {
    list.Add("log_alpha_of_2_to_62_columns", "log_alpha", [](Request& r) {
      v1::Tensor& output = *r.mutable_call()->add_outputs();
      output.set_name("log_alpha");
      SetShape(output, {3, 12, int64_t{1} << 62});
    });
    return;
  }
  for (const std::string_view name : {"grad_out", "neg_log_likelihood"}) {
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {2}, {4}, {3, 1}})
      AddShape(list, name, shape);
    AddDType(list, name, DType::kFloat64);
  }
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{3, 12}, {3, 12, 8}, {3, 11, 9}, {2, 12, 9}, {3, 12, 0}})
    AddShape(list, "log_alpha", shape);
  AddDType(list, "log_alpha", DType::kFloat64);
}

// Found in the data, in phase two.
void AddCtcLabels(MistakeList& list) {
  const auto add = [&list](const std::string& label, const MistakeList::Spoil& spoil) {
    list.Add(label, "targets", spoil).in_plan = false;
  };
  for (const int64_t label : {int64_t{7}, int64_t{-1}, kMax, kMin}) {
    add("label_" + std::to_string(label), [&](Request& r) {
      BytesOfInput(r, "targets").replace(8, 8, reinterpret_cast<const char*>(&label), 8);
    });
  }
  for (const float label : {1.5F, -1.0F, 7.0F, 1e30F, std::nanf(""), -INFINITY}) {
    add("float_label_" + std::to_string(label), [&](Request& r) {
      Retype(r, "targets", DType::kFloat32);
      std::string& bytes = BytesOfInput(r, "targets");
      bytes.assign(bytes.size(), '\0');
      bytes.replace(4, 4, reinterpret_cast<const char*>(&label), 4);
    });
  }
}

}  // namespace

MalformedCalls OwnMistakes(const Operator& op) {
  MistakeList list(op);
  const bool of_classes = op.FindAttribute("ignore_index") >= 0;
  const bool is_loss = op.FindAttribute("reduction") >= 0 && !of_classes;
  if (is_loss) AddLoss(list, op);
  const bool broadcasts = op.runs_in_pieces != nullptr && !is_loss;
  if (op.name == "LogSigmoidBackward") {
    AddLogSigmoidBackward(list);
  } else if (broadcasts || op.name == "LogSigmoidForward") {
    AddElementwise(list, op);
  }
  if (op.name.starts_with("GroupNorm")) AddGroupNorm(list, op);
  if (op.name.starts_with("CtcLoss")) {
    AddCtcAttributes(list);
    AddCtcShapes(list, op);
    AddCtcLabels(list);
  }
  AddLayerMistakes(list, op);
  return list.Take();
}

}  // namespace opserve::testing
