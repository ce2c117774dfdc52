#include "core/backends/cpu/elementwise.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/backends/cpu/elements.h"
#include "core/tensor/element.h"

namespace opserve::cpu {
namespace {

// `desc`'s strides along the dimensions of `shape`, to which it broadcasts.
Dims BroadcastStrides(const TensorDesc& desc, std::span<const int64_t> shape) {
  Dims strides(shape.size(), 0);
  const size_t shift = shape.size() - desc.shape.size();
  for (size_t i = 0; i < desc.shape.size(); ++i) {
    if (desc.shape[i] != 1) strides[shift + i] = desc.strides[i];
  }
  return strides;
}

// Merges dimension `inner` into `outer` of every operand that has both in one step, and drops
// extents of 1.
class SpaceMerger {
 public:
  explicit SpaceMerger(std::span<Operand*> operands) : operands_(operands) {}

  Dims Merge(std::span<const int64_t> shape) {
    Dims merged;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) continue;
      if (!merged.empty() && Continues(merged.size() - 1, i, shape[i])) {
        merged.back() *= shape[i];
      } else {
        merged.push_back(shape[i]);
      }
      for (Operand* operand : operands_) operand->strides[merged.size() - 1] = operand->strides[i];
    }
    for (Operand* operand : operands_) operand->strides.resize(merged.size());
    return merged;
  }

 private:
  bool Continues(size_t outer, size_t inner, int64_t extent) const {
    return std::all_of(operands_.begin(), operands_.end(), [&](const Operand* operand) {
      return operand->strides[outer] == operand->strides[inner] * extent;
    });
  }

  std::span<Operand*> operands_;
};

void Classify(const ElementwiseCall& call, Operand& operand) {
  operand.linear = call.shape.empty() || (call.shape.size() == 1 && operand.strides[0] == 1);
  operand.constant = std::all_of(operand.strides.begin(), operand.strides.end(),
                                 [](int64_t stride) { return stride == 0; });
  if (call.shape.size() <= 1) return;
  // Other operands may keep dimensions apart that this one could merge.
  int64_t expected = 1;
  operand.linear = true;
  for (size_t i = call.shape.size(); i > 0; --i) {
    operand.linear = operand.linear && operand.strides[i - 1] == expected;
    expected *= call.shape[i - 1];
  }
}

// Operands begin empty. Small calls cost about as much as what is done for each.
void SetInput(const KernelArgs& args, size_t i, Operand& input) {
  const TensorDesc& desc = args.call.input(static_cast<int>(i));
  input.input = args.inputs[i] + static_cast<size_t>(desc.storage_offset) * DTypeSize(desc.dtype);
  input.dtype = desc.dtype;
}

// A one of a dtype that tiles have.
const std::byte* OneOf(DType dtype) {
  static constexpr float kFloat = 1;
  static constexpr uint16_t kHalf = 0x3C00;
  static constexpr uint16_t kBFloat = 0x3F80;
  const void* const one = dtype == DType::kFloat16    ? static_cast<const void*>(&kHalf)
                          : dtype == DType::kBFloat16 ? static_cast<const void*>(&kBFloat)
                                                      : static_cast<const void*>(&kFloat);
  return static_cast<const std::byte*>(one);
}

// The commonest call by far: all tensors dense, of one shape. Its space is a line.
bool IsLine(const KernelArgs& args, size_t num_inputs, const Dims& shape,
            const TensorDesc* output) {
  const TensorDesc& first = args.call.input(0);
  if (!SameShape(first.shape, shape) || !first.IsDense()) return false;
  for (size_t i = 1; i < num_inputs; ++i) {
    if (!args.call.has_input(static_cast<int>(i))) continue;
    const TensorDesc& desc = args.call.input(static_cast<int>(i));
    if (!SameShape(desc.shape, shape)) return false;
    if (!SameShape(desc.strides, first.strides) && !desc.IsDense()) return false;
  }
  return output == nullptr || output->IsDense();
}

using Operands = absl::InlinedVector<Operand*, kMaxElementwiseInputs + 1>;

// The tensors of the call, of which `output` is null for a reduction, and the dtypes of all.
Operands SetOperands(const KernelArgs& args, const TensorDesc* output, std::byte* to,
                     ElementwiseCall& call) {
  Operands operands;
  bool uniform = true;
  for (size_t i = 0; i < call.num_inputs; ++i) {
    Operand& input = call.inputs[i];
    operands.push_back(&input);
    if (!args.call.has_input(static_cast<int>(i))) continue;
    SetInput(args, i, input);
    call.promoted = i == 0 ? input.dtype : PromoteDTypes(call.promoted, input.dtype);
    uniform = uniform && input.dtype == call.inputs[0].dtype;
  }
  if (output != nullptr) {
    call.output.output =
        to + static_cast<size_t>(output->storage_offset) * DTypeSize(output->dtype);
    call.output.dtype = output->dtype;
    uniform = uniform && call.output.dtype == call.inputs[0].dtype;
    operands.push_back(&call.output);
  }
  call.tile_dtype = uniform ? call.promoted : DType::kFloat32;
  return operands;
}

// Of an input that was not given, the one that it stands for.
void SetMissing(ElementwiseCall& call) {
  for (size_t i = 1; i < call.num_inputs; ++i) {
    Operand& input = call.inputs[i];
    if (input.input != nullptr) continue;
    input.input = OneOf(call.tile_dtype);
    input.dtype = call.tile_dtype;
    input.constant = true;
  }
}

// `output` is null for a reduction.
ElementwiseCall MakeCall(const KernelArgs& args, size_t num_inputs, const Dims& shape,
                         const TensorDesc* output, std::byte* to) {
  ElementwiseCall call;
  call.count = NumElements(shape).value_or(0);
  call.end = call.count;
  call.written = call.count;
  call.num_inputs = num_inputs;
  Operands operands = SetOperands(args, output, to, call);
  if (call.count == 0) return call;
  SetMissing(call);
  if (IsLine(args, num_inputs, shape, output)) {
    call.shape.push_back(call.count);
    for (Operand* operand : operands) {
      operand->linear = !operand->constant;
      operand->strides.push_back(operand->linear ? 1 : 0);
    }
    return call;
  }
  for (size_t i = 0; i < call.num_inputs; ++i) {
    call.inputs[i].strides = call.inputs[i].constant
                                 ? Dims(shape.size(), 0)
                                 : BroadcastStrides(args.call.input(static_cast<int>(i)), shape);
  }
  if (output != nullptr) call.output.strides = output->strides;
  call.shape = SpaceMerger(std::span<Operand*>(operands.data(), operands.size())).Merge(shape);
  for (Operand* operand : operands) Classify(call, *operand);
  return call;
}

// The call on a part of its output. What has the part alone is plain, so it is linear.
void Narrow(const KernelArgs& args, ElementwiseCall& call) {
  call.begin = args.range.begin;
  call.end = args.range.begin + args.range.count;
  if (args.range_is_read_next) call.written = args.range.count;
  call.output.first = call.begin;
  for (size_t i = 0; i < args.windowed.size() && i < call.num_inputs; ++i) {
    if (args.windowed[i]) call.inputs[i].first = call.begin;
  }
}

// Calls visit(element offset, count, stride) for each run of elements along the innermost
// dimension.
template <typename Visit>
void ForEachRun(const Operand& operand, std::span<const int64_t> shape, int64_t begin, size_t count,
                Visit visit) {
  if (shape.empty()) return visit(0, count, 0);
  Dims index(shape.size());
  int64_t offset = 0;
  for (size_t i = shape.size(); i > 0; --i) {
    index[i - 1] = begin % shape[i - 1];
    begin /= shape[i - 1];
    offset += index[i - 1] * operand.strides[i - 1];
  }
  const size_t inner = shape.size() - 1;
  while (true) {
    const size_t run = std::min(count, static_cast<size_t>(shape[inner] - index[inner]));
    visit(offset, run, operand.strides[inner]);
    count -= run;
    if (count == 0) return;
    // The run ended at the end of its row: step to the next.
    offset -= index[inner] * operand.strides[inner];
    index[inner] = 0;
    for (size_t i = inner; i > 0; --i) {
      offset += operand.strides[i - 1];
      if (++index[i - 1] < shape[i - 1]) break;
      offset -= shape[i - 1] * operand.strides[i - 1];
      index[i - 1] = 0;
    }
  }
}

// Elements moved as they are, whatever they hold.
using Byte1 [[gnu::may_alias]] = uint8_t;
using Byte2 [[gnu::may_alias]] = uint16_t;
using Byte4 [[gnu::may_alias]] = uint32_t;
using Byte8 [[gnu::may_alias]] = uint64_t;

// As many of `value` at `out`.
template <typename T>
void Repeat(T value, size_t count, T* out) {
  std::array<T, 64 / sizeof(T)> line = {};
  line.fill(value);
  size_t i = 0;
  for (; i + line.size() <= count; i += line.size())
    std::memcpy(out + i, line.data(), sizeof(line));
  for (; i < count; ++i) out[i] = value;
}

template <typename T>
void Gather(const Operand& operand, std::span<const int64_t> shape, int64_t begin, size_t count,
            std::byte* tile) {
  const T* source = reinterpret_cast<const T*>(operand.input);
  T* out = reinterpret_cast<T*>(tile);
  ForEachRun(operand, shape, begin, count, [&](int64_t offset, size_t run, int64_t stride) {
    const T* from = source + offset;
    if (stride == 1) {
      std::memcpy(out, from, run * sizeof(T));
    } else if (stride == 0) {
      Repeat(*from, run, out);
    } else {
      for (size_t i = 0; i < run; ++i) out[i] = from[static_cast<int64_t>(i) * stride];
    }
    out += run;
  });
}

template <typename T>
void Scatter(const Operand& operand, std::span<const int64_t> shape, int64_t begin, size_t count,
             const std::byte* tile) {
  T* target = reinterpret_cast<T*>(operand.output);
  const T* in = reinterpret_cast<const T*>(tile);
  ForEachRun(operand, shape, begin, count, [&](int64_t offset, size_t run, int64_t stride) {
    T* to = target + offset;
    if (stride == 1) {
      std::memcpy(to, in, run * sizeof(T));
    } else {
      for (size_t i = 0; i < run; ++i) to[static_cast<int64_t>(i) * stride] = in[i];
    }
    in += run;
  });
}

int64_t ElementsOfChunk(const ElementwiseCall& call) {
  constexpr auto kElements = static_cast<int64_t>(kTile);
  if (call.end - call.begin <= kChunk) return kChunk;
  const int64_t tiles = (call.end - call.begin + kElements - 1) / kElements;
  return EvenChunk(tiles, kChunk / kElements) * kElements;
}

// Whether there is a tensor that is no line, but made of long ones.
bool HasRows(const ElementwiseCall& call) {
  if (call.shape.size() < 2 || call.shape.back() < kShortestRow) return false;
  const auto has = [](const Operand& operand) {
    return !operand.linear && operand.strides.back() == 1;
  };
  const std::span<const Operand> inputs(call.inputs.data(), call.num_inputs);
  return has(call.output) || std::any_of(inputs.begin(), inputs.end(), has);
}

}  // namespace

ElementwiseCall MakeMap(const KernelArgs& args, size_t num_inputs, size_t output) {
  const TensorDesc& desc = args.call.output(static_cast<int>(output)).desc;
  ElementwiseCall call = MakeCall(args, num_inputs, desc.shape, &desc, args.outputs[output]);
  if (HasRows(call)) call.row = call.shape.back();
  if (args.range.count >= 0) Narrow(args, call);
  return call;
}

void VisitRowsOfLast(ElementwiseCall& call) {
  if (call.shape.empty() || call.shape.back() < kShortestRow) return;
  if (call.inputs[call.num_inputs - 1].strides.back() != 0) return;
  call.row = call.shape.back();
  call.last_is_of_rows = true;
}

Dims InputsShape(const OpCall& call) {
  Dims shape;
  for (const std::optional<TensorDesc>& input : call.inputs) {
    if (input.has_value()) shape = *BroadcastShapes(shape, input->shape);
  }
  return shape;
}

ElementwiseCall MakeReduction(const KernelArgs& args) {
  return MakeCall(args, args.inputs.size(), InputsShape(args.call), nullptr, nullptr);
}

int64_t OffsetOf(const Operand& operand, std::span<const int64_t> shape, int64_t begin) {
  int64_t offset = 0;
  for (size_t i = shape.size(); i > 0; --i) {
    offset += begin % shape[i - 1] * operand.strides[i - 1];
    begin /= shape[i - 1];
  }
  return offset;
}

int64_t NumChunks(const ElementwiseCall& call) {
  const int64_t of_chunk = ElementsOfChunk(call);
  return (call.end - call.begin + of_chunk - 1) / of_chunk;
}

int64_t ChunkBegin(const ElementwiseCall& call, int64_t chunk) {
  return call.begin + chunk * ElementsOfChunk(call);
}

int64_t ChunkEnd(const ElementwiseCall& call, int64_t chunk) {
  return std::min(call.end, ChunkBegin(call, chunk) + ElementsOfChunk(call));
}

void GatherTile(const Operand& operand, std::span<const int64_t> shape, int64_t begin, size_t count,
                std::byte* tile) {
  switch (DTypeSize(operand.dtype)) {
    case 1:
      return Gather<Byte1>(operand, shape, begin, count, tile);
    case 2:
      return Gather<Byte2>(operand, shape, begin, count, tile);
    case 4:
      return Gather<Byte4>(operand, shape, begin, count, tile);
    default:
      return Gather<Byte8>(operand, shape, begin, count, tile);
  }
}

void ScatterTile(const Operand& operand, std::span<const int64_t> shape, int64_t begin,
                 size_t count, const std::byte* tile) {
  if (DTypeSize(operand.dtype) == 2) return Scatter<Byte2>(operand, shape, begin, count, tile);
  if (DTypeSize(operand.dtype) == 8) return Scatter<Byte8>(operand, shape, begin, count, tile);
  return Scatter<Byte4>(operand, shape, begin, count, tile);
}

void ConvertIntegerTile(DType from, DType promoted, const std::byte* tile, size_t count,
                        float* out) {
  const size_t size = DTypeSize(from);
  for (size_t i = 0; i < count; ++i) {
    // Through the promoted dtype, with its one rounding. Storing a number in a floating dtype
    // cannot fail.
    std::byte element[sizeof(float)];
    StoreElement(promoted, LoadElement(from, tile + i * size), element).IgnoreError();
    out[i] = static_cast<float>(LoadAsDouble(promoted, element));
  }
}

}  // namespace opserve::cpu
