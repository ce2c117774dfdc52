// Mistakes that each operator's own checks refuse.
#include <cmath>
#include <limits>

#include "core/tensor/shape.h"
#include "tests/server/mistakes/malformed_calls.h"

namespace opserve::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Request = v1::ExecuteRequest;

void AddAttribute(MistakeList& list, std::string_view name, const AttributeValue& value,
                  std::string_view parameter = {}) {
  list.Add(std::string(name) + "_is_" + AttributeInWords(value),
           parameter.empty() ? name : parameter,
           [&](Request& r) { AttributeOf(r, name) = ToAttribute(name, value); });
}

void AddShape(MistakeList& list, std::string_view name, const std::vector<int64_t>& shape,
              std::string_view parameter = {}) {
  list.Add(std::string(name) + "_of_shape_" + ShapeToString(shape),
           parameter.empty() ? name : parameter, [&](Request& r) { Reshape(r, name, shape); });
}

void AddDType(MistakeList& list, std::string_view name, DType dtype,
              std::string_view parameter = {}) {
  list.Add(std::string(name) + "_of_" + std::string(DTypeName(dtype)) + "_beside_others",
           parameter.empty() ? name : parameter, [&](Request& r) { Retype(r, name, dtype); });
}

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

// Attributes of pooling.
void AddWindows(MistakeList& list, const Operator& op) {
  using Ints = std::vector<int64_t>;
  for (const Ints& sizes :
       {Ints{}, Ints{0}, Ints{2, -1}, Ints{1, 1, 1}, Ints{1000}, Ints{kMax, 1}, Ints{kMin}})
    AddAttribute(list, "kernel_size", sizes);
  for (const Ints& strides : {Ints{0}, Ints{1, -1}, Ints{1, 1, 1}, Ints{kMax}})
    AddAttribute(list, "stride", strides);
  for (const Ints& sizes : {Ints{}, Ints{-1}, Ints{0, 2}, Ints{0, 0, 0}, Ints{kMax}})
    AddAttribute(list, "padding", sizes);
  if (op.FindAttribute("dilation") < 0) return;
  for (const Ints& steps : {Ints{}, Ints{0}, Ints{1, 1, 1}, Ints{kMax}})
    AddAttribute(list, "dilation", steps);
  AddAttribute(list, "dilation", Ints{100}, "kernel_size");
}

// Lists of a fixed number of extents.
void AddExtents(MistakeList& list, const Operator& op, std::string_view name) {
  const int at = op.FindAttribute(name);
  if (at < 0) return;
  const auto length = static_cast<size_t>(op.attributes[static_cast<size_t>(at)].list_length);
  using Ints = std::vector<int64_t>;
  for (const int64_t extent : {int64_t{-100}, kMax, kMin})
    AddAttribute(list, name, Ints(length == 0 ? 2 : length, extent));
  for (const size_t entries : {size_t{0}, size_t{3}, size_t{5}})
    AddAttribute(list, name, Ints(entries, 1));
}

// Found in the data, in phase two.
void AddIndices(MistakeList& list) {
  for (const int32_t index : {63, -2, std::numeric_limits<int32_t>::max()}) {
    list.Add("index_" + std::to_string(index), "indices",
             [&](Request& r) {
               BytesOfInput(r, "indices").replace(4, 4, reinterpret_cast<const char*>(&index), 4);
             })
        .in_plan = false;
  }
}

// Operators on planes: their first case is of 2 x 3 planes of 7 x 9, or of as many rows.
void AddPlanes(MistakeList& list, const Operator& op) {
  for (const TensorParam& input : op.inputs) {
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {7}, {2, 3, 0}, {1, 1, 1, 1, 1, 1}})
      AddShape(list, input.name, shape);
  }
  if (op.inputs.size() > 1) AddDType(list, op.inputs[1].name, DType::kBFloat16);
  const bool pools = op.FindAttribute("kernel_size") >= 0;
  if (pools) AddWindows(list, op);
  if (!pools) AddExtents(list, op, "padding");
  AddExtents(list, op, "output_size");
  AddExtents(list, op, "input_size");
  if (op.FindInput("indices") >= 0) AddIndices(list);
}

bool IsOnPlanes(const Operator& op) {
  for (const std::string_view part : {"Pool2d", "ReflectionPad", "ReplicationPad", "Upsample"}) {
    if (op.name.find(part) != std::string_view::npos) return true;
  }
  return false;
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

using Shapes = std::vector<std::vector<int64_t>>;

// Of a tensor of shape [4, 6] that is cut along its last dimension.
void AddGate(MistakeList& list, const Operator& op) {
  const bool is_forward = op.inputs.size() == 1;
  const std::string_view whole = op.inputs[is_forward ? 0 : 1].name;
  for (const int64_t dim : {int64_t{2}, int64_t{-3}, kMax, kMin}) AddAttribute(list, "dim", dim);
  for (const std::vector<int64_t>& shape : Shapes{{}, {4, 5}, {5}, {2, 2, 1}})
    AddShape(list, whole, shape);
  for (const TensorParam& param : op.inputs) {
    if (param.name == whole) continue;
    for (const std::vector<int64_t>& shape : Shapes{{}, {4, 6}, {3}, {4, 3, 1}, {2, 3}})
      AddShape(list, param.name, shape);
  }
  if (!is_forward) {
    for (const std::vector<int64_t>& shape : Shapes{{4, 8}, {6}, {4, 6, 2}})
      AddShape(list, whole, shape, op.inputs[0].name);
  }
  if (op.FindAttribute("approximate") < 0) return;
  for (const int64_t form : {int64_t{-1}, int64_t{2}, kMax})
    AddAttribute(list, "approximate", form);
}

// Of shape [4, 2] with 2 weights.
void AddPrelu(MistakeList& list, const Operator& op) {
  for (const std::vector<int64_t>& shape : Shapes{{3}, {1, 2}, {2, 1}, {0}, {4}, {1, 1}})
    AddShape(list, "weight", shape);
  const bool is_forward = op.inputs.size() == 2;
  for (const std::vector<int64_t>& shape : Shapes{{2}, {4, 3}, {}, {2, 4}})
    AddShape(list, "self", shape, is_forward ? "weight" : "grad_output");
  if (is_forward) return;
  for (const std::vector<int64_t>& shape : Shapes{{}, {2}, {2, 4}, {4, 2, 1}})
    AddShape(list, "grad_output", shape);
}

// Where the output's dtype follows from the call, and is another one.
void AddOutputOfFloat16(MistakeList& list) {
  list.Add("out_of_another_float", "out", [](Request& r) {
    v1::Tensor& tensor = *r.mutable_call()->add_outputs();
    tensor.set_name("out");
    tensor.set_dtype(v1::DATA_TYPE_FLOAT16);
  });
}

// Of a weight of shape [10, 4] and indices of shape [3, 2].
void AddEmbedding(MistakeList& list, const Operator& op) {
  const std::string_view data = op.inputs[0].name;
  AddShape(list, "indices", {1, 1, 1, 1, 1, 1, 3, 2});
  for (const int64_t index : {int64_t{10}, int64_t{-1}, kMax, kMin}) {
    list.Add("index_" + std::to_string(index), "indices",
             [index](Request& r) {
               BytesOfInput(r, "indices").replace(16, 8, reinterpret_cast<const char*>(&index), 8);
             })
        .in_plan = false;
  }
  AddOutputOfFloat16(list);
  if (op.attributes.empty()) {
    for (const std::vector<int64_t>& shape : Shapes{{}, {40}, {10, 2, 2}})
      AddShape(list, data, shape);
    return;
  }
  for (const std::vector<int64_t>& shape : Shapes{{}, {4}, {3, 2}, {2, 3, 4}, {3, 2, 4, 1}})
    AddShape(list, data, shape);
  for (const int64_t rows : {int64_t{-1}, kMin, kMax, int64_t{1} << 58})
    AddAttribute(list, "num_weights", rows);
  for (const int64_t index : {int64_t{-2}, kMin}) AddAttribute(list, "padding_idx", index);
}

// Of shape [4, 2].
void AddPermute(MistakeList& list) {
  using Ints = std::vector<int64_t>;
  for (const Ints& dims : {Ints{}, Ints{1}, Ints{0, 1, 2}, Ints{0, 0}, Ints{1, -1}, Ints{0, 2},
                           Ints{-3, 0}, Ints{kMax, 0}, Ints{0, kMin}})
    AddAttribute(list, "dims", dims);
  AddOutputOfFloat16(list);
}

void AddCast(MistakeList& list) {
  for (const int64_t dtype : {int64_t{2}, int64_t{-1}, int64_t{26}, int64_t{28}, kMax, kMin})
    AddAttribute(list, "dtype", dtype);
  AddOutputOfFloat16(list);
}

using Shape = std::vector<int64_t>;

// Of the first case of each: (3) and (3); (1, 2, 3) and (1, 3, 4); (2, 4) beside (2, 3) and (3, 4).
void AddProduct(MistakeList& list, const Operator& op) {
  for (const int64_t type : {int64_t{-1}, int64_t{4}, kMax, kMin})
    AddAttribute(list, "cube_math_type", type);
  if (op.name == "Addmm") {
    for (const Shape& shape : {Shape{3}, Shape{2, 4, 1}, Shape{1, 2, 4}, Shape{0}})
      AddShape(list, "self", shape);
    AddShape(list, "mat1", {3});
    AddShape(list, "mat1", {2, 4}, "mat2");
    for (const Shape& shape : {Shape{3}, Shape{4, 4}, Shape{0, 4}, Shape{1, 3, 4}})
      AddShape(list, "mat2", shape);
    return;
  }
  const bool batch = op.name == "BatchMatMul";
  AddShape(list, "self", batch ? Shape{2, 3} : Shape{});
  AddShape(list, "self", batch ? Shape{2, 2, 3} : Shape{4}, "mat2");
  const std::vector<Shape> shapes =
      batch ? std::vector<Shape>{{3, 4}, {1, 4, 4}, {2, 3, 4}, {0, 3, 4}}
            : std::vector<Shape>{{}, {4}, {4, 3}, {0}};
  for (const Shape& shape : shapes) AddShape(list, "mat2", shape);
}

// Of an input (2, 3, 7) and four kernels (3, 3).
void AddConvolution(MistakeList& list, const Operator& op) {
  for (const std::string_view name : {"stride", "padding", "dilation", "output_padding"}) {
    for (const Shape& entries : {Shape{}, Shape{-1}, Shape{kMin}, Shape{1, 1}})
      AddAttribute(list, name, entries);
  }
  for (const std::string_view name : {"stride", "dilation"}) AddAttribute(list, name, Shape{0});
  for (const std::string_view name : {"padding", "dilation"})
    AddAttribute(list, name, Shape{kMax}, "input");
  for (const int64_t groups : {int64_t{0}, int64_t{-1}, int64_t{2}, kMax, kMin})
    AddAttribute(list, "groups", groups);
  AddAttribute(list, "transposed", true, "weight");
  for (const Shape& shape : {Shape{}, Shape{4, 3}, Shape{4, 2, 3}, Shape{4, 3, 3, 1}})
    AddShape(list, "weight", shape);
  for (const Shape& shape : {Shape{4, 3, 8}, Shape{4, 3, 0}})
    AddShape(list, "weight", shape, "input");
  for (const Shape& shape : {Shape{}, Shape{3, 7}, Shape{2, 3, 2}}) AddShape(list, "input", shape);
  AddShape(list, "input", {2, 4, 7}, "weight");
  if (op.FindInput("bias") >= 0) AddShape(list, "bias", {3});
  if (op.FindAttribute("bias_sizes") < 0) return;
  for (const Shape& sizes : {Shape{5}, Shape{4, 1}, Shape{-1}, Shape{kMax}})
    AddAttribute(list, "bias_sizes", sizes);
  for (const size_t entries : {0, 1, 2, 4})
    AddAttribute(list, "output_mask", std::vector<bool>(entries, true));
  for (const Shape& shape : {Shape{2, 4}, Shape{2, 4, 6}, Shape{2, 3, 5}, Shape{0, 4, 5}})
    AddShape(list, "grad_output", shape);
}

}  // namespace

MalformedCalls OwnMistakes(const Operator& op) {
  MistakeList list(op);
  const bool is_loss = op.FindAttribute("reduction") >= 0;
  if (is_loss) AddLoss(list, op);
  const bool broadcasts = op.runs_in_pieces != nullptr && !is_loss;
  if (op.name == "LogSigmoidBackward") {
    AddLogSigmoidBackward(list);
  } else if (broadcasts || op.name == "LogSigmoidForward") {
    AddElementwise(list, op);
  }
  if (op.name.starts_with("GroupNorm")) AddGroupNorm(list, op);
  if (IsOnPlanes(op)) AddPlanes(list, op);
  if (op.name.starts_with("CtcLoss")) {
    AddCtcAttributes(list);
    AddCtcShapes(list, op);
    AddCtcLabels(list);
  }
  if (op.name.find("Glu") != std::string_view::npos) AddGate(list, op);
  if (op.name.starts_with("Prelu")) AddPrelu(list, op);
  if (op.name.starts_with("Embedding")) AddEmbedding(list, op);
  if (op.name == "Permute") AddPermute(list);
  if (op.name == "Cast") AddCast(list);
  if (op.name == "Matmul" || op.name == "BatchMatMul" || op.name == "Addmm") AddProduct(list, op);
  if (op.name.starts_with("Convolution")) AddConvolution(list, op);
  return list.Take();
}

}  // namespace opserve::testing
