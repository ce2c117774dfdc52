// Convolution and ConvolutionBackward as products of matrices. With x the tensor that kernels slide
// over and y that of their positions (input and result; of a transposed convolution result and
// input), w the weights, and taps what kernels meet (convolution_taps.h), for each group:
//   y = w·taps(x), x = wᵀ·taps(y), w = y·taps(x)ᵀ
// None of them is ever whole in memory.
#include <algorithm>

#include "core/backends/cpu/block_product.h"
#include "core/backends/cpu/convolution_taps.h"
#include "core/backends/cpu/matrix_view.h"

namespace opserve::cpu {
namespace {

// What the three products have in common.
struct Geometry {
  int64_t batch;
  int64_t groups;
  int64_t x_channels;  // of a group
  int64_t y_channels;
  Extents3 x = {1, 1, 1};
  Extents3 y = {1, 1, 1};
  Extents3 kernel = {1, 1, 1};
  Steps3 steps = {};

  // A kernel of one element at each place of x: taps are x itself.
  bool IsPointwise() const {
    for (size_t i = 0; i < 3; ++i) {
      if (kernel[i] != 1 || steps[i].stride != 1 || steps[i].padding != 0) return false;
    }
    return x == y;
  }
};

// `first` is the attribute stride.
Geometry GeometryOf(const OpCall& call, int first, const Dims& x, const Dims& y, const Dims& w) {
  const auto groups = call.attribute<int64_t>(first + 5);
  Geometry geometry = {x[0], groups, x[1] / groups, y[1] / groups};
  const size_t missing = 5 - x.size();
  for (size_t i = 2; i < x.size(); ++i) {
    const size_t dim = i - 2 + missing;
    geometry.x[dim] = x[i];
    geometry.y[dim] = y[i];
    geometry.kernel[dim] = w[i];
    geometry.steps[dim] = StepsOf(call, first, i - 2);
  }
  return geometry;
}

int64_t Count(std::initializer_list<int64_t> extents, const Extents3& more) {
  Dims all(extents);
  all.insert(all.end(), more.begin(), more.end());
  return NumElements(all).value_or(0);
}

ProductShape ShapeOfY(const Geometry& g) {
  return {g.groups, g.y_channels, Count({g.batch}, g.y), Count({g.x_channels}, g.kernel)};
}
ProductShape ShapeOfX(const Geometry& g) {
  return {g.groups, g.x_channels, Count({g.batch}, g.x), Count({g.y_channels}, g.kernel)};
}
ProductShape ShapeOfW(const Geometry& g) {
  return {g.groups, g.y_channels, Count({g.x_channels}, g.kernel), Count({g.batch}, g.y)};
}
ProductShape ShapeOfBias(const Dims& result) {
  return {1, 1, result[1],
          NumElements(std::span<const int64_t>(result).subspan(2)).value_or(0) * result[0]};
}

// Rows are the channels of a group, columns the places of the batch.
MatrixView DataView(MatrixView view, const TensorDesc& desc, int64_t groups) {
  const int64_t channels = desc.shape[1] / groups;
  if (groups > 1) view.batch.Append(groups, channels * desc.strides[1]);
  view.rows.Append(channels, desc.strides[1]);
  AppendDims(desc, 0, 1, view.cols);
  AppendDims(desc, 2, desc.shape.size(), view.cols);
  return view;
}

// Rows are the channels of y, columns those of x and the kernel's elements; or of x, and of y.
MatrixView WeightView(MatrixView view, const TensorDesc& desc, int64_t groups, bool rows_are_y) {
  const int64_t channels = desc.shape[0] / groups;
  if (groups > 1) view.batch.Append(groups, channels * desc.strides[0]);
  (rows_are_y ? view.rows : view.cols).Append(channels, desc.strides[0]);
  AppendDims(desc, 1, 2, rows_are_y ? view.cols : view.rows);
  AppendDims(desc, 2, desc.shape.size(), view.cols);
  return view;
}

ConvolutionTaps TapsOf(const KernelArgs& args, int input, const Geometry& g,
                       ConvolutionTaps::From from) {
  const bool of_x = from == ConvolutionTaps::From::kInput;
  const TensorDesc& desc = args.call.input(input);
  const MatrixView view = ViewOfInput(args, input);
  ConvolutionTaps taps;
  taps.from = from;
  taps.first = view.input;
  taps.dtype = desc.dtype;
  taps.channels = of_x ? g.x_channels : g.y_channels;
  taps.extents = of_x ? g.x : g.y;
  taps.positions = of_x ? g.y : g.x;
  taps.kernel = g.kernel;
  taps.steps = g.steps;
  // An empty tensor's may be any numbers.
  if (desc.num_elements() == 0) return taps;
  taps.batch_stride = desc.strides[0];
  taps.channel_stride = desc.strides[1];
  for (size_t i = 2; i < desc.shape.size(); ++i)
    taps.strides[i - 2 + 5 - desc.shape.size()] = desc.strides[i];
  return taps;
}

// The operand that is taps, or the tensor itself where they are the same. Not to be moved while it
// is used.
class TapOperand {
 public:
  TapOperand(const KernelArgs& args, int input, const Geometry& g, ConvolutionTaps::From from)
      : taps_(TapsOf(args, input, g, from)),
        view_(DataView(ViewOfInput(args, input), args.call.input(input), g.groups)),
        pointwise_(g.IsPointwise()) {}

  void Pack(const MatrixBlock& block, float* to, BlockSteps steps) const {
    if (pointwise_) return PackView(view_, block, to, steps);
    taps_.Pack(block, to, steps);
  }

 private:
  const ConvolutionTaps taps_;
  const MatrixView view_;
  const bool pointwise_;
};

// What is added to each channel of a result.
class Bias {
 public:
  // An input that is -1 is none.
  Bias(const KernelArgs& args, int input) : given_(input >= 0 && args.call.has_input(input)) {
    if (!given_) return;
    view_ = ViewOfInput(args, input);
    AppendDims(args.call.input(input), 0, 1, view_.rows);
  }

  // Of a block whose rows are channels of a group of `channels`.
  void AddTo(const MatrixBlock& block, int64_t channels, float* to, BlockSteps steps) const {
    if (!given_) return;
    for (int64_t r = 0; r < block.rows; ++r) {
      float bias = 0;
      PackView(view_, {0, block.batch * channels + block.row + r, 1, 0, 1}, &bias, {1, 1});
      float* const row = to + r * steps.row;
      for (int64_t c = 0; c < block.cols; ++c) row[c * steps.col] += bias;
    }
  }

 private:
  const bool given_;
  MatrixView view_;
};

void Run(const KernelArgs& args, const ProductShape& shape, PackBlock a, PackBlock b,
         StoreBlock store) {
  ScratchPlan scratch;
  const ProductPlan plan(shape, scratch);
  MultiplyBlocks(args.workers, plan, args.workspace, a, b, store);
}

struct Tensors {
  int weight;
  int data;  // x of MakeY, y of MakeX
  int output;
  int bias;  // -1 = none
};

// y = w·taps(x), or x = wᵀ·taps(y).
void MakeData(const KernelArgs& args, const Geometry& g, const Tensors& of, bool makes_y) {
  const MatrixView weight =
      WeightView(ViewOfInput(args, of.weight), args.call.input(of.weight), g.groups, makes_y);
  const TapOperand taps(args, of.data, g,
                        makes_y ? ConvolutionTaps::From::kInput : ConvolutionTaps::From::kResult);
  const MatrixView out =
      DataView(ViewOfOutput(args, of.output), args.call.output(of.output).desc, g.groups);
  const int64_t channels = makes_y ? g.y_channels : g.x_channels;
  const Bias bias(args, of.bias);
  Run(
      args, makes_y ? ShapeOfY(g) : ShapeOfX(g),
      [&](const MatrixBlock& block, float* to, BlockSteps by) { PackView(weight, block, to, by); },
      [&](const MatrixBlock& block, float* to, BlockSteps by) { taps.Pack(block, to, by); },
      [&](const MatrixBlock& block, float* from, BlockSteps by) {
        bias.AddTo(block, channels, from, by);
        StoreView(out, block, from, by);
      });
}

// w = y·taps(x)ᵀ.
void MakeWeight(const KernelArgs& args, const Geometry& g, int x, int y, int output) {
  const MatrixView data = DataView(ViewOfInput(args, y), args.call.input(y), g.groups);
  const TapOperand taps(args, x, g, ConvolutionTaps::From::kInput);
  const MatrixView out =
      WeightView(ViewOfOutput(args, output), args.call.output(output).desc, g.groups, true);
  Run(
      args, ShapeOfW(g),
      [&](const MatrixBlock& block, float* to, BlockSteps by) { PackView(data, block, to, by); },
      [&](const MatrixBlock& block, float* to, BlockSteps by) {
        taps.Pack(block.Transposed(), to, by.Transposed());
      },
      [&](const MatrixBlock& block, float* from, BlockSteps by) {
        StoreView(out, block, from, by);
      });
}

// Ones times the result's gradient.
void MakeBias(const KernelArgs& args, int result, int output) {
  const TensorDesc& desc = args.call.input(result);
  const MatrixView data = DataView(ViewOfInput(args, result), desc, 1);
  MatrixView out = ViewOfOutput(args, output);
  AppendDims(args.call.output(output).desc, 0, 1, out.cols);
  Run(
      args, ShapeOfBias(desc.shape),
      [](const MatrixBlock& block, float* to, BlockSteps by) {
        for (int64_t c = 0; c < block.cols; ++c) to[c * by.col] = 1;
      },
      [&](const MatrixBlock& block, float* to, BlockSteps by) {
        PackView(data, block.Transposed(), to, by.Transposed());
      },
      [&](const MatrixBlock& block, float* from, BlockSteps by) {
        StoreView(out, block, from, by);
      });
}

Geometry ForwardGeometry(const OpCall& call) {
  const Dims& input = call.input(0).shape;
  const Dims& result = call.output(0).desc.shape;
  const bool transposed = call.attribute<bool>(3);
  return GeometryOf(call, 0, transposed ? result : input, transposed ? input : result,
                    call.input(1).shape);
}

Geometry BackwardGeometry(const OpCall& call) {
  const Dims& result = call.input(0).shape;
  const Dims& input = call.input(1).shape;
  const bool transposed = call.attribute<bool>(4);
  return GeometryOf(call, 1, transposed ? result : input, transposed ? input : result,
                    call.input(2).shape);
}

size_t ScratchOf(const ProductShape& shape) {
  ScratchPlan scratch;
  const ProductPlan plan(shape, scratch);
  return scratch.bytes();
}

size_t ConvolutionWorkspace(const OpCall& call) {
  const Geometry g = ForwardGeometry(call);
  return ScratchOf(call.attribute<bool>(3) ? ShapeOfX(g) : ShapeOfY(g));
}

// The products are made one after another, in the same memory.
size_t ConvolutionBackwardWorkspace(const OpCall& call) {
  const Geometry g = BackwardGeometry(call);
  size_t bytes = 0;
  if (call.output(0).wanted) bytes = ScratchOf(call.attribute<bool>(4) ? ShapeOfY(g) : ShapeOfX(g));
  if (call.output(1).wanted) bytes = std::max(bytes, ScratchOf(ShapeOfW(g)));
  if (call.output(2).wanted) bytes = std::max(bytes, ScratchOf(ShapeOfBias(call.input(0).shape)));
  return bytes;
}

absl::Status ExecuteConvolution(const KernelArgs& args) {
  MakeData(args, ForwardGeometry(args.call), {.weight = 1, .data = 0, .output = 0, .bias = 2},
           !args.call.attribute<bool>(3));
  return absl::OkStatus();
}

absl::Status ExecuteConvolutionBackward(const KernelArgs& args) {
  const Geometry g = BackwardGeometry(args.call);
  const bool transposed = args.call.attribute<bool>(4);
  if (args.call.output(0).wanted)
    MakeData(args, g, {.weight = 2, .data = 0, .output = 0, .bias = -1}, transposed);
  if (args.call.output(1).wanted) MakeWeight(args, g, transposed ? 0 : 1, transposed ? 1 : 0, 1);
  if (args.call.output(2).wanted) MakeBias(args, 0, 2);
  return absl::OkStatus();
}

}  // namespace

extern constinit const Kernel kConvolutionKernel = {ConvolutionWorkspace, ExecuteConvolution};
extern constinit const Kernel kConvolutionBackwardKernel = {ConvolutionBackwardWorkspace,
                                                            ExecuteConvolutionBackward};

}  // namespace opserve::cpu
