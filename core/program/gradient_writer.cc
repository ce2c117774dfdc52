#include "core/program/gradient_writer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

// The sum over some dimensions, which are gone then.
absl::StatusOr<ValueView> SumOver(ProgramBuilder& builder, std::string_view step,
                                  ValueView gradient, std::vector<int64_t> dims) {
  if (dims.empty()) return gradient;
  return builder.Apply(step, "ReduceSum", {gradient}, {{"dims", std::move(dims)}});
}

// Dimensions of more than one element, in the order in which they lie in memory.
std::vector<int64_t> OrderInMemory(const TensorDesc& desc) {
  std::vector<int64_t> order(desc.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return desc.strides[static_cast<size_t>(a)] > desc.strides[static_cast<size_t>(b)];
  });
  return order;
}

bool IsPermutationOf(const TensorDesc& seen, const std::vector<int64_t>& order,
                     const TensorDesc& value) {
  if (seen.storage_offset != value.storage_offset) return false;
  int64_t elements = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    const auto at = static_cast<size_t>(*dim);
    if (seen.shape[at] != 1 && seen.strides[at] != elements) return false;
    elements *= seen.shape[at];
  }
  return elements == value.num_elements();
}

TensorDesc WithoutBroadcast(const TensorDesc& seen, std::vector<int64_t>& broadcast) {
  TensorDesc rest{.dtype = seen.dtype, .storage_offset = seen.storage_offset};
  for (size_t i = 0; i < seen.shape.size(); ++i) {
    if (seen.strides[i] == 0 && seen.shape[i] != 1) {
      broadcast.push_back(static_cast<int64_t>(i));
    } else {
      rest.shape.push_back(seen.shape[i]);
      rest.strides.push_back(seen.strides[i]);
    }
  }
  return rest;
}

}  // namespace

absl::StatusOr<ValueView> Reshaped(ProgramBuilder& builder, std::string_view step, ValueView view,
                                   const Dims& shape) {
  if (SameShape(view.desc.shape, shape)) return view;
  OPSERVE_ASSIGN_OR_RETURN(const ValueView dense, builder.Dense(step, std::move(view)));
  return ValueView{dense.value, TensorDesc::Dense(dense.desc.dtype, shape)};
}

absl::StatusOr<ValueView> InDType(ProgramBuilder& builder, std::string_view step, ValueView view,
                                  DType dtype) {
  if (view.desc.dtype == dtype) return view;
  return builder.Cast(step, view, dtype);
}

ValueView Transposed(ValueView view) {
  const size_t rank = view.desc.shape.size();
  std::swap(view.desc.shape[rank - 1], view.desc.shape[rank - 2]);
  std::swap(view.desc.strides[rank - 1], view.desc.strides[rank - 2]);
  return view;
}

absl::StatusOr<ValueView> ReducedTo(ProgramBuilder& builder, std::string_view step,
                                    ValueView gradient, const Dims& shape) {
  const Dims& from = gradient.desc.shape;
  if (SameShape(from, shape)) return gradient;
  const size_t added = from.size() < shape.size() ? 0 : from.size() - shape.size();
  std::vector<int64_t> dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (i < added || (shape[i - added] == 1 && from[i] != 1))
      dims.push_back(static_cast<int64_t>(i));
  }
  OPSERVE_ASSIGN_OR_RETURN(ValueView sum,
                           SumOver(builder, step, std::move(gradient), std::move(dims)));
  return Reshaped(builder, step, std::move(sum), shape);
}

absl::StatusOr<ValueView> ThroughView(ProgramBuilder& builder, std::string_view step,
                                      ValueView gradient, const TensorDesc& seen,
                                      const TensorDesc& value) {
  if (SameShape(seen.shape, value.shape) && SameShape(seen.strides, value.strides)) return gradient;
  std::vector<int64_t> broadcast;
  const TensorDesc rest = WithoutBroadcast(seen, broadcast);
  const std::vector<int64_t> order = OrderInMemory(rest);
  if (!IsPermutationOf(rest, order, value)) {
    return InvalidParameter("gradient", "a view of all elements of a value, each once or broadcast",
                            "one of some, or of some twice, which has no gradient");
  }
  OPSERVE_ASSIGN_OR_RETURN(gradient,
                           SumOver(builder, step, std::move(gradient), std::move(broadcast)));
  ValueView permuted{
      gradient.value,
      {.dtype = gradient.desc.dtype, .storage_offset = gradient.desc.storage_offset}};
  for (const int64_t dim : order) {
    permuted.desc.shape.push_back(gradient.desc.shape[static_cast<size_t>(dim)]);
    permuted.desc.strides.push_back(gradient.desc.strides[static_cast<size_t>(dim)]);
  }
  return Reshaped(builder, step, std::move(permuted), value.shape);
}

}  // namespace opserve
