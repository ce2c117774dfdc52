// Mistakes that the checks of the layers refuse: of pools, gates, products, convolutions, …
#include <cmath>
#include <limits>

#include "tests/server/mistakes/own_mistakes.h"

namespace opserve::testing {
namespace {

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

// Of shape [4, 2].
void AddReduction(MistakeList& list, const Operator& op) {
  using Ints = std::vector<int64_t>;
  const std::string dims(op.attributes[0].name);
  for (const Ints& spoilt :
       {Ints{2}, Ints{-3}, Ints{0, 0}, Ints{1, -1}, Ints{0, 1, 2}, Ints{kMax}, Ints{kMin, 0}})
    AddAttribute(list, dims, spoilt);
  for (const int64_t dtype : {int64_t{2}, int64_t{-2}, int64_t{26}, int64_t{28}, kMax, kMin})
    AddAttribute(list, "dtype", dtype);
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

// Of softmaxes.
void AddRows(MistakeList& list, const Operator& op) {
  for (const int64_t dim : {int64_t{100}, int64_t{-100}, kMax, kMin})
    AddAttribute(list, "dim", dim);
  if (op.inputs.size() < 2) return;
  AddShape(list, "output", {3, 7});
  AddDType(list, "output", DType::kBFloat16);
}

// Of LayerNorm, RmsNorm, BatchNorm and their gradients.
void AddNorms(MistakeList& list, const Operator& op) {
  for (const std::string_view name : {"eps", "epsilon"}) {
    if (op.FindAttribute(name) < 0) continue;
    for (const double eps : {-1.0, std::nan("")}) AddAttribute(list, name, eps);
  }
  if (op.FindAttribute("normalized_shape") >= 0) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{999}, {-1}, {kMax, kMax}})
      AddAttribute(list, "normalized_shape", shape);
  }
  for (const std::string_view name : {"weight", "bias", "gamma"}) {
    if (op.FindInput(name) >= 0) AddShape(list, name, {999});
  }
}

// Of losses whose targets are classes.
void AddClasses(MistakeList& list, const Operator& op) {
  for (const int64_t reduction : {int64_t{-1}, int64_t{3}, kMax, kMin})
    AddAttribute(list, "reduction", reduction);
  AddDType(list, "target", DType::kFloat32);
  AddDType(list, "target", DType::kBool);
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2}, {1, 2}, {0}})
    AddShape(list, "target", shape);
  for (const int64_t of_class : {int64_t{-1}, int64_t{256}, kMax, kMin}) {
    list.Add("class_" + std::to_string(of_class), "target",
             [&](Request& r) {
               Retype(r, "target", DType::kInt64);
               std::string& bytes = BytesOfInput(r, "target");
               bytes.assign(bytes.size(), '\0');
               bytes.replace(0, 8, reinterpret_cast<const char*>(&of_class), 8);
             })
        .in_plan = false;
  }
  if (op.FindAttribute("label_smoothing") < 0) return;
  for (const double share : {-0.5, 1.5, std::nan("")}) AddAttribute(list, "label_smoothing", share);
  AddAttribute(list, "lse_square_scale_for_zloss", 0.5);
  if (op.FindAttribute("return_zloss") >= 0) AddAttribute(list, "return_zloss", true);
}

}  // namespace

void AddLayerMistakes(MistakeList& list, const Operator& op) {
  if (IsOnPlanes(op)) AddPlanes(list, op);
  if (op.name.find("Glu") != std::string_view::npos) AddGate(list, op);
  if (op.name.starts_with("Prelu")) AddPrelu(list, op);
  if (op.name.starts_with("Embedding")) AddEmbedding(list, op);
  if (op.name == "Permute") AddPermute(list);
  if (op.name == "Cast") AddCast(list);
  if (op.name == "ReduceSum" || op.name == "Mean") AddReduction(list, op);
  if (op.name == "Matmul" || op.name == "BatchMatMul" || op.name == "Addmm") AddProduct(list, op);
  if (op.name.starts_with("Convolution")) AddConvolution(list, op);
  if (op.FindAttribute("ignore_index") >= 0) AddClasses(list, op);
  if (op.name.find("Softmax") != std::string_view::npos) AddRows(list, op);
  for (const std::string_view norm : {"LayerNorm", "RmsNorm", "BatchNorm"}) {
    if (op.name.starts_with(norm)) AddNorms(list, op);
  }
}

}  // namespace opserve::testing
