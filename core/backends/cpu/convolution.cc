// Convolution and ConvolutionBackward as products of matrices. With x the tensor that kernels slide
// over and y that of their positions (input and result; of a transposed convolution result and
// input), w the weights, and taps what kernels meet (convolution_taps.h), for each group:
//   y = w·taps(x), x = wᵀ·taps(y), w = y·taps(x)ᵀ
// Taps are never whole in memory. Of x, those elements are made together that meet the same of a
// kernel's: with a stride of s, every s-th in each dimension.
#include <algorithm>

#include "core/backends/cpu/block_product.h"
#include "core/backends/cpu/convolution_geometry.h"
#include "core/backends/cpu/convolution_lines.h"
#include "core/backends/cpu/convolution_taps.h"
#include "core/backends/cpu/matrix_view.h"
#include "core/backends/cpu/sums.h"

namespace opserve::cpu {
namespace {

int64_t Count(std::initializer_list<int64_t> extents, const Extents3& more) {
  Dims all(extents);
  all.insert(all.end(), more.begin(), more.end());
  return NumElements(all).value_or(0);
}

ProductShape ShapeOfY(const ConvolutionGeometry& g) {
  return {g.groups, g.y_channels, Count({g.batch}, g.y), Count({g.x_channels}, g.kernel)};
}
ProductShape ShapeOfX(const ConvolutionGeometry& g, const ConvolutionPhase& phase) {
  return {g.groups, g.x_channels, Count({g.batch}, CountsOf(phase.x)),
          Count({g.y_channels}, CountsOf(phase.kernel))};
}
ProductShape ShapeOfW(const ConvolutionGeometry& g) {
  return {g.groups, g.y_channels, Count({g.x_channels}, g.kernel), Count({g.batch}, g.y)};
}

// Appends slices of the dimensions after the channels to `axis`.
void AppendSlices(const TensorDesc& desc, const Slices& slices, MatrixAxis& axis,
                  MatrixView& view) {
  int64_t offset = 0;
  for (size_t i = 2; i < desc.shape.size(); ++i) {
    const Slice& slice = slices[i - 2 + 5 - desc.shape.size()];
    if (slice.count > 0) offset += slice.first * desc.strides[i];
    axis.Append(slice.count, slice.count > 1 ? slice.step * desc.strides[i] : 0);
  }
  offset *= static_cast<int64_t>(DTypeSize(desc.dtype));
  if (view.input != nullptr) view.input += offset;
  if (view.output != nullptr) view.output += offset;
}

// Rows are the channels of a group, columns the places of the batch. Of an empty tensor, which
// nobody reads and of which strides may be any numbers, there are no axes.
MatrixView DataView(MatrixView view, const TensorDesc& desc, int64_t groups, const Slices& slices) {
  if (desc.num_elements() == 0) return view;
  const int64_t channels = desc.shape[1] / groups;
  if (groups > 1) view.batch.Append(groups, channels * desc.strides[1]);
  view.rows.Append(channels, desc.strides[1]);
  AppendDims(desc, 0, 1, view.cols);
  AppendSlices(desc, slices, view.cols, view);
  return view;
}

// Rows are the channels of y, columns those of x and the kernel's elements; or of x, and of y.
MatrixView WeightView(MatrixView view, const TensorDesc& desc, int64_t groups, bool rows_are_y,
                      const Slices& slices) {
  if (desc.num_elements() == 0) return view;
  const int64_t channels = desc.shape[0] / groups;
  if (groups > 1) view.batch.Append(groups, channels * desc.strides[0]);
  (rows_are_y ? view.rows : view.cols).Append(channels, desc.strides[0]);
  AppendDims(desc, 1, 2, rows_are_y ? view.cols : view.rows);
  AppendSlices(desc, slices, view.cols, view);
  return view;
}

// The taps of x, and of y. `Bind` says where they are.
ConvolutionTaps TapsOfX(const ConvolutionGeometry& g) {
  ConvolutionTaps taps;
  taps.channels = g.x_channels;
  taps.extents = g.x;
  taps.kernel = g.kernel;
  taps.positions = g.y;
  for (size_t i = 0; i < 3; ++i)
    taps.maps[i] = {g.steps[i].stride, g.steps[i].dilation, -g.steps[i].padding, 1};
  return taps;
}

ConvolutionTaps TapsOfY(const ConvolutionGeometry& g, const ConvolutionPhase& phase) {
  ConvolutionTaps taps;
  taps.channels = g.y_channels;
  taps.extents = g.y;
  taps.kernel = CountsOf(phase.kernel);
  taps.positions = CountsOf(phase.x);
  taps.maps = phase.maps;
  return taps;
}

ConvolutionTaps Bind(ConvolutionTaps taps, const KernelArgs& args, int input) {
  const TensorDesc& desc = args.call.input(input);
  taps.first = ViewOfInput(args, input).input;
  taps.dtype = desc.dtype;
  // An empty tensor's may be any numbers.
  if (desc.num_elements() == 0) return taps;
  taps.batch_stride = desc.strides[0];
  taps.channel_stride = desc.strides[1];
  for (size_t i = 2; i < desc.shape.size(); ++i)
    taps.strides[i - 2 + 5 - desc.shape.size()] = desc.strides[i];
  return taps;
}

// The operand that is taps, or the tensor itself where they are the same.
class TapOperand {
 public:
  TapOperand(const KernelArgs& args, int input, const ConvolutionGeometry& g,
             const ConvolutionTaps& taps)
      : taps_(Bind(taps, args, input)),
        view_(DataView(ViewOfInput(args, input), args.call.input(input), g.groups,
                       Whole(taps.extents))),
        is_tensor_(taps.IsTensor()) {}

  const ConvolutionTaps& taps() const { return taps_; }

  void Pack(const MatrixBlock& block, float* to, BlockSteps steps) const {
    if (is_tensor_) return PackView(view_, block, to, steps);
    taps_.Pack(block, to, steps);
  }

 private:
  const ConvolutionTaps taps_;
  const MatrixView view_;
  const bool is_tensor_;
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
  int data;  // x to make y, y to make x
  int output;
  int bias;  // -1 = none
};

// weight·taps, and the bias, as a view of the output.
void MakeData(const KernelArgs& args, const ProductShape& shape, const MatrixView& weight,
              const TapOperand& taps, const Bias& bias, const MatrixView& out) {
  const auto pack = [&](const MatrixBlock& block, float* to, BlockSteps by) {
    PackView(weight, block, to, by);
  };
  const auto store = [&](const MatrixBlock& block, float* from, BlockSteps by) {
    bias.AddTo(block, shape.rows, from, by);
    StoreView(out, block, from, by);
  };
  if (MadeByLines(taps.taps(), shape.rows))
    return MultiplyLines(args.workers, shape, taps.taps(), pack, store);
  Run(
      args, shape, pack,
      [&](const MatrixBlock& block, float* to, BlockSteps by) { taps.Pack(block, to, by); }, store);
}

// y = w·taps(x).
void MakeY(const KernelArgs& args, const ConvolutionGeometry& g, const Tensors& of) {
  const MatrixView weight = WeightView(ViewOfInput(args, of.weight), args.call.input(of.weight),
                                       g.groups, true, Whole(g.kernel));
  const TapOperand taps(args, of.data, g, TapsOfX(g));
  const MatrixView out = DataView(ViewOfOutput(args, of.output), args.call.output(of.output).desc,
                                  g.groups, Whole(g.y));
  MakeData(args, ShapeOfY(g), weight, taps, Bias(args, of.bias), out);
}

// x = wᵀ·taps(y).
void MakeX(const KernelArgs& args, const ConvolutionGeometry& g, const Tensors& of) {
  ForEachPhase(g, [&](const ConvolutionPhase& phase) {
    const MatrixView weight = WeightView(ViewOfInput(args, of.weight), args.call.input(of.weight),
                                         g.groups, false, phase.kernel);
    const TapOperand taps(args, of.data, g, TapsOfY(g, phase));
    const MatrixView out = DataView(ViewOfOutput(args, of.output), args.call.output(of.output).desc,
                                    g.groups, phase.x);
    MakeData(args, ShapeOfX(g, phase), weight, taps, Bias(args, of.bias), out);
  });
}

// w = y·taps(x)ᵀ.
void MakeWeight(const KernelArgs& args, const ConvolutionGeometry& g, int x, int y, int output) {
  const MatrixView data = DataView(ViewOfInput(args, y), args.call.input(y), g.groups, Whole(g.y));
  const TapOperand taps(args, x, g, TapsOfX(g));
  const MatrixView out = WeightView(ViewOfOutput(args, output), args.call.output(output).desc,
                                    g.groups, true, Whole(g.kernel));
  const auto pack = [&](const MatrixBlock& block, float* to, BlockSteps by) {
    PackView(data, block, to, by);
  };
  const auto store = [&](const MatrixBlock& block, float* from, BlockSteps by) {
    StoreView(out, block, from, by);
  };
  if (MadeByLines(taps.taps(), g.y_channels)) {
    ScratchPlan scratch;
    const LineSumsPlan plan(ShapeOfW(g), scratch);
    return SumLines(args.workers, plan, args.workspace, taps.taps(), pack, store);
  }
  Run(
      args, ShapeOfW(g), pack,
      [&](const MatrixBlock& block, float* to, BlockSteps by) {
        taps.Pack(block.Transposed(), to, by.Transposed());
      },
      store);
}

ConvolutionGeometry ForwardGeometry(const OpCall& call) {
  const Dims& input = call.input(0).shape;
  const Dims& result = call.output(0).desc.shape;
  const bool transposed = call.attribute<bool>(3);
  return GeometryOf(call, 0, transposed ? result : input, transposed ? input : result,
                    call.input(1).shape);
}

ConvolutionGeometry BackwardGeometry(const OpCall& call) {
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

size_t DataScratch(const ProductShape& shape, const ConvolutionTaps& taps) {
  return MadeByLines(taps, shape.rows) ? 0 : ScratchOf(shape);
}

// Products are made one after another, in the same memory.
size_t DataScratch(const ConvolutionGeometry& g, bool makes_x) {
  if (!makes_x) return DataScratch(ShapeOfY(g), TapsOfX(g));
  size_t bytes = 0;
  ForEachPhase(g, [&](const ConvolutionPhase& phase) {
    bytes = std::max(bytes, DataScratch(ShapeOfX(g, phase), TapsOfY(g, phase)));
  });
  return bytes;
}

size_t WeightScratch(const ConvolutionGeometry& g) {
  if (!MadeByLines(TapsOfX(g), g.y_channels)) return ScratchOf(ShapeOfW(g));
  ScratchPlan scratch;
  const LineSumsPlan plan(ShapeOfW(g), scratch);
  return scratch.bytes();
}

// The gradient of the bias is the sums of the result's gradient.
ChannelSpace BiasSpace(const OpCall& call) {
  const Dims& shape = call.input(0).shape;
  return {shape, shape[1]};
}

size_t ConvolutionWorkspace(const OpCall& call) {
  return DataScratch(ForwardGeometry(call), call.attribute<bool>(3));
}

size_t ConvolutionBackwardWorkspace(const OpCall& call) {
  const ConvolutionGeometry g = BackwardGeometry(call);
  size_t bytes = 0;
  if (call.output(0).wanted) bytes = DataScratch(g, !call.attribute<bool>(4));
  if (call.output(1).wanted) bytes = std::max(bytes, WeightScratch(g));
  if (call.output(2).wanted) bytes = std::max(bytes, BiasSpace(call).sums().bytes());
  return bytes;
}

absl::Status ExecuteConvolution(const KernelArgs& args) {
  const bool transposed = args.call.attribute<bool>(3);
  (transposed ? MakeX : MakeY)(args, ForwardGeometry(args.call),
                               {.weight = 1, .data = 0, .output = 0, .bias = 2});
  return absl::OkStatus();
}

absl::Status ExecuteConvolutionBackward(const KernelArgs& args) {
  const ConvolutionGeometry g = BackwardGeometry(args.call);
  const bool transposed = args.call.attribute<bool>(4);
  if (args.call.output(0).wanted)
    (transposed ? MakeY : MakeX)(args, g, {.weight = 2, .data = 0, .output = 0, .bias = -1});
  if (args.call.output(1).wanted) MakeWeight(args, g, transposed ? 0 : 1, transposed ? 1 : 0, 1);
  if (args.call.output(2).wanted) {
    const ChannelSpace space = BiasSpace(args.call);
    SumInput(args, 0, space.View(args.call.input(0)), space.sums(), 2, 1);
  }
  return absl::OkStatus();
}

}  // namespace

extern constinit const Kernel kConvolutionKernel = {ConvolutionWorkspace, ExecuteConvolution};
extern constinit const Kernel kConvolutionBackwardKernel = {ConvolutionBackwardWorkspace,
                                                            ExecuteConvolutionBackward};

}  // namespace opserve::cpu
