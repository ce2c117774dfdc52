#include <opserve/tensor.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "core/tensor/element.h"

namespace opserve::client {
namespace {

constexpr std::align_val_t kAlignment{kTensorAlignment};

std::shared_ptr<std::byte> Owned(void* memory) {
  return {static_cast<std::byte*>(memory),
          [](std::byte* bytes) { ::operator delete(bytes, kAlignment); }};
}

}  // namespace

TensorView TensorView::OfBytes(DType dtype, std::span<const int64_t> shape,
                               std::span<const std::byte> bytes) {
  TensorView view;
  view.dtype = dtype;
  view.shape.assign(shape.begin(), shape.end());
  view.storage = bytes;
  return view;
}

TensorView TensorView::WithStrides(std::span<const int64_t> new_strides, int64_t new_offset) const {
  TensorView view = *this;
  view.strides.assign(new_strides.begin(), new_strides.end());
  view.storage_offset = new_offset;
  return view;
}

TensorDesc TensorView::Desc() const {
  TensorDesc desc = TensorDesc::Dense(dtype, shape);
  if (!strides.empty()) desc.strides = strides;
  desc.storage_offset = storage_offset;
  return desc;
}

Tensor::Tensor() : desc_(TensorDesc::Dense(DType::kFloat32, std::initializer_list<int64_t>{0})) {}

void Tensor::CheckType(DType asked) const {
  if (asked == desc_.dtype) return;
  std::fprintf(stderr, "opserve::client::Tensor::As: asked for %s, the tensor is %s\n",
               std::string(DTypeName(asked)).c_str(), std::string(DTypeName(desc_.dtype)).c_str());
  std::abort();
}

std::vector<double> Tensor::ToDoubles() const {
  std::vector<double> values(static_cast<size_t>(num_elements()));
  const size_t size = DTypeSize(desc_.dtype);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = LoadAsDouble(desc_.dtype, bytes_.get() + i * size);
  return values;
}

TensorView Tensor::View() const {
  TensorView view = TensorView::OfBytes(desc_.dtype, desc_.shape, bytes());
  view.owner = bytes_;
  return view;
}

std::shared_ptr<std::byte> AllocateTensorBytes(size_t size) {
  return Owned(::operator new(std::max<size_t>(1, size), kAlignment));
}

std::shared_ptr<std::byte> TryAllocateTensorBytes(size_t size) {
  void* const memory = ::operator new(std::max<size_t>(1, size), kAlignment, std::nothrow);
  return memory == nullptr ? nullptr : Owned(memory);
}

}  // namespace opserve::client
