#include "tests/bench/kernels/timed_calls.h"

#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace opserve::bench {
namespace {

using Ints = std::vector<int64_t>;
using Bools = std::vector<bool>;

constexpr int64_t kLast = -1;
const Bools kAll = {true, true, true};

void Add(std::vector<TimedCall>& calls, std::vector<TimedCall> more) {
  calls.insert(calls.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

void AddRows(std::vector<TimedCall>& calls) {
  for (const auto& [label, rows] : {std::pair<std::string, Dims>{"64x64", {64, 64}},
                                    {"1024x1024", {1024, 1024}},
                                    {"8x131072", {8, 131072}}}) {
    Dims both = rows;
    both.back() *= 2;
    Add(calls, {{"Softmax", label, {rows}, {kLast}},
                {"SoftmaxBackward", label, {rows, rows}, {kLast}},
                {"LogSoftmax", label, {rows}, {kLast}},
                {"LogSoftmaxBackward", label, {rows, rows}, {kLast}},
                {"Glu", label, {both}, {kLast}},
                {"GluBackward", label, {rows, both}, {kLast}},
                {"GeGlu", label, {both}, {kLast}},
                {"GeGluBackward", label, {rows, both, rows}, {kLast}},
                {"SwiGlu", label, {both}, {kLast}},
                {"SwiGluGrad", label, {rows, both}, {kLast}}});
    for (const int64_t dim : {0, 1}) {
      const std::string over = absl::StrCat(label, " over ", dim);
      Add(calls, {{"ReduceSum", over, {rows}, {Ints{dim}}}, {"Mean", over, {rows}, {Ints{dim}}}});
    }
  }
}

void AddRowNorms(std::vector<TimedCall>& calls) {
  for (const auto& [label, rows, width] :
       {std::tuple<std::string, int64_t, int64_t>{"16x256", 16, 256}, {"1024x1024", 1024, 1024}}) {
    const Dims x = {rows, width};
    Add(calls,
        {{"LayerNorm", label, {x, {width}, {width}}, {Ints{width}}},
         {"LayerNormBackward",
          label,
          {x, x, {rows, 1}, {rows, 1}, {width}, {width}},
          {Ints{width}, kAll},
          0,
          "native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, "
          "output_mask)"},
         {"RmsNorm", label, {x, {width}}, {}},
         {"RmsNormGrad", label, {x, x, {rows, 1}, {width}}, {}}});
  }
}

void AddChannelNorms(std::vector<TimedCall>& calls) {
  for (const auto& [label, n, c, side] :
       {std::tuple<std::string, int64_t, int64_t, int64_t>{"4x16x8x8", 4, 16, 8},
        {"16x64x32x32", 16, 64, 32},
        {"8x256x56x56", 8, 256, 56}}) {
    const Dims x = {n, c, side, side};
    const int64_t groups = 16;
    Add(calls,
        {{"BatchNorm",
          label,
          {x, {c}, {c}, {c}, {c}},
          {true},
          0,
          "native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, "
          "eps)"},
         {"BatchNormBackward",
          label,
          {x, x, {c}, {c}, {c}, {c}, {c}},
          {true},
          0,
          "native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, "
          "save_mean, save_invstd, training, eps, output_mask)"},
         {"GroupNorm", label, {x, {c}, {c}}, {n, c, side * side, groups}},
         {"GroupNormBackward",
          label,
          {x, x, {n, groups}, {n, groups}, {c}},
          {n, c, side * side, groups},
          0,
          "native_group_norm_backward(grad_out, input, mean, rstd, gamma, N, C, HxW, group, "
          "output_mask)"},
         {"Prelu", label, {x, {c}}, {}},
         {"PreluBackward",
          label,
          {x, x, {c}},
          {},
          0,
          "prelu_backward(grad_output, self, weight)"}});
  }
}

void AddClasses(std::vector<TimedCall>& calls) {
  constexpr int64_t kReductionMean = 1;
  for (const auto& [label, samples, classes] :
       {std::tuple<std::string, int64_t, int64_t>{"128x32", 128, 32}, {"1024x1024", 1024, 1024}}) {
    const Dims x = {samples, classes};
    Add(calls, {{"NLLLoss", label, {x, {samples}, {classes}}, {kReductionMean}, classes},
                {"NLLLossBackward",
                 label,
                 {{}, x, {samples}, {classes}, {}},
                 {kReductionMean},
                 classes,
                 "nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, "
                 "total_weight)"},
                {"CrossEntropyLoss", label, {x, {samples}}, {}, classes},
                {"CrossEntropyLossGrad", label, {{}, x, {samples}}, {}, classes},
                {"Embedding", label, {{1000, classes}, {samples}}, {}, 1000},
                {"EmbeddingDenseBackward",
                 label,
                 {{samples, classes}, {samples}},
                 {int64_t{1000}, int64_t{-1}, false},
                 1000}});
  }
}

void AddProducts(std::vector<TimedCall>& calls) {
  for (const auto& [label, m, k, n] :
       {std::tuple<std::string, int64_t, int64_t, int64_t>{"64x64x64", 64, 64, 64},
        {"1024x1024x1024", 1024, 1024, 1024},
        {"1x4096x1024", 1, 4096, 1024}}) {
    Add(calls, {{"Matmul", label, {{m, k}, {k, n}}, {}},
                {"Addmm", label, {{n}, {m, k}, {k, n}}, {}},
                {"BatchMatMul", label, {{4, m, k}, {4, k, n}}, {}}});
  }
  const Ints one = {1, 1};
  const Ints none = {0, 0};
  for (const auto& [label, x, weight, padding, groups] :
       {std::tuple<std::string, Dims, Dims, int64_t, int64_t>{
            "1x16x16x16 3x3", {1, 16, 16, 16}, {16, 16, 3, 3}, 1, 1},
        {"8x64x56x56 3x3", {8, 64, 56, 56}, {64, 64, 3, 3}, 1, 1},
        {"8x256x28x28 1x1", {8, 256, 28, 28}, {64, 256, 1, 1}, 0, 1},
        {"8x64x56x56 depthwise", {8, 64, 56, 56}, {64, 1, 3, 3}, 1, 64}}) {
    const Ints pad = {padding, padding};
    const Dims result = {x[0], weight[0], x[2], x[3]};
    Add(calls,
        {{"Convolution",
          label,
          {x, weight, {weight[0]}},
          {one, pad, one, false, none, groups},
          0,
          "convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, "
          "groups)"},
         {"ConvolutionBackward",
          label,
          {result, x, weight},
          {Ints{weight[0]}, one, pad, one, false, none, groups, kAll},
          0,
          "convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, "
          "transposed, output_padding, groups, output_mask)"}});
  }
}

void AddPools(std::vector<TimedCall>& calls) {
  const Ints two = {2, 2};
  const Ints one = {1, 1};
  const Ints none = {0, 0};
  for (const auto& [label, n, c, side] :
       {std::tuple<std::string, int64_t, int64_t, int64_t>{"1x16x16x16", 1, 16, 16},
        {"16x64x32x32", 16, 64, 32}}) {
    const Dims x = {n, c, side, side};
    const Dims half = {n, c, side / 2, side / 2};
    const Ints halves = {side / 2, side / 2};
    Add(calls,
        {{"MaxPool2dWithIndices", label, {x}, {two, two, none, one, false}},
         {"MaxPool2dWithIndicesBackward",
          label,
          {half, x, half},
          {two, two, none, one, false},
          side * side,
          "max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, "
          "dilation, ceil_mode, indices)"},
         {"AvgPool2d",
          label,
          {x},
          {two, two, none, false, true},
          0,
          "avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad)"},
         {"AvgPool2dBackward",
          label,
          {half, x},
          {two, two, none, false, true},
          0,
          "avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, "
          "count_include_pad, None)"},
         {"AdaptiveAvgPool2d", label, {x}, {halves}},
         {"AdaptiveAvgPool2dBackward", label, {half, x}, {}}});
  }
}

void AddResized(std::vector<TimedCall>& calls) {
  for (const auto& [label, n, c, side] :
       {std::tuple<std::string, int64_t, int64_t, int64_t>{"1x16x16x16", 1, 16, 16},
        {"16x64x32x32", 16, 64, 32}}) {
    const Dims x = {n, c, side, side};
    const Ints shape(x.begin(), x.end());
    const Dims twice = {n, c, side * 2, side * 2};
    const Dims padded = {n, c, side + 4, side + 4};
    const Ints margins = {2, 2, 2, 2};
    const Ints size = {side * 2, side * 2};
    Add(calls, {{"UpsampleNearest2d", label, {x}, {size}},
                {"UpsampleNearest2dBackward",
                 label,
                 {twice},
                 {size, shape},
                 0,
                 "upsample_nearest2d_backward(grad_out, output_size, input_size)"},
                {"UpsampleBilinear2d",
                 label,
                 {x},
                 {size, false},
                 0,
                 "upsample_bilinear2d(self, output_size, align_corners)"},
                {"UpsampleBilinear2dBackward",
                 label,
                 {twice},
                 {size, shape, false},
                 0,
                 "upsample_bilinear2d_backward(grad_out, output_size, input_size, align_corners)"},
                {"ReflectionPad2d", label, {x}, {margins}},
                {"ReflectionPad2dBackward", label, {padded, x}, {margins}},
                {"ReplicationPad2d", label, {x}, {margins}},
                {"ReplicationPad2dBackward", label, {padded, x}, {margins}},
                {"Permute", label, {x}, {Ints{0, 2, 3, 1}}}});
  }
}

}  // namespace

std::span<const TimedCall> TimedCalls() {
  static const std::vector<TimedCall> calls = [] {
    std::vector<TimedCall> all;
    AddRows(all);
    AddRowNorms(all);
    AddChannelNorms(all);
    AddClasses(all);
    AddProducts(all);
    AddPools(all);
    AddResized(all);
    return all;
  }();
  return calls;
}

}  // namespace opserve::bench
