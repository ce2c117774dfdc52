#include "tests/support/test_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "absl/random/distributions.h"
#include "core/base/mutex.h"
#include "gtest/gtest.h"

namespace opserve::testing {
namespace {

// A matcher would cost more than all else that is done for an element.
void ExpectStored(const absl::Status& status) {
  if (!status.ok()) ADD_FAILURE() << status;
}

// Random tensors begin anywhere among elements that are drawn once a process: to draw those of each
// tensor took longer than to compute with them. A prime, so that the elements of a long tensor
// repeat at no power of two.
constexpr size_t kDrawnElements = 65'521;

const std::vector<std::byte>& DrawnElements(DType dtype, double scale) {
  static Mutex mutex;
  static std::map<std::pair<DType, double>, TestTensor> made;
  const MutexLock lock(mutex);
  if (const auto found = made.find({dtype, scale}); found != made.end())
    return found->second.bytes();
  Rng rng = MakeRng(0);
  std::vector<double> values(kDrawnElements);
  for (double& value : values) {
    value = absl::Gaussian(rng, 0.0, scale);
    if (DTypeKindOf(dtype) == DTypeKind::kBool) value = value > 0 ? 1 : 0;
    if (!IsFloating(dtype)) value = std::fabs(std::round(value));
  }
  const TestTensor tensor = TestTensor::Of(dtype, {static_cast<int64_t>(kDrawnElements)}, values);
  return made.emplace(std::pair(dtype, scale), tensor).first->second.bytes();
}

}  // namespace

int64_t OffsetOf(const Dims& shape, const Dims& strides, int64_t position) {
  int64_t offset = 0;
  for (size_t i = shape.size(); i > 0; --i) {
    offset += position % shape[i - 1] * strides[i - 1];
    position /= shape[i - 1];
  }
  return offset;
}

TestTensor::TestTensor(const TensorDesc& desc)
    : desc_(desc),
      count_(desc.num_elements()),
      is_dense_(desc.IsDense()),
      bytes_(static_cast<size_t>(desc.reach_bytes()), std::byte{0xA5}) {}

TestTensor TestTensor::Of(DType dtype, const Dims& shape, const std::vector<double>& values) {
  TestTensor tensor(TensorDesc::Dense(dtype, shape));
  EXPECT_EQ(static_cast<size_t>(tensor.count()), values.size());
  const bool is_floating = IsFloating(dtype);
  const size_t size = DTypeSize(dtype);
  std::byte* to = tensor.data();
  for (const double value : values) {
    const Number number = is_floating ? Number(value) : Number(static_cast<int64_t>(value));
    ExpectStored(StoreElement(dtype, number, to));
    to += size;
  }
  return tensor;
}

TestTensor TestTensor::Full(DType dtype, const Dims& shape, double value) {
  return Of(dtype, shape, std::vector<double>(static_cast<size_t>(*NumElements(shape)), value));
}

TestTensor TestTensor::Random(DType dtype, const Dims& shape, Rng& rng, double scale) {
  const std::vector<std::byte>& drawn = DrawnElements(dtype, scale);
  TestTensor tensor(TensorDesc::Dense(dtype, shape));
  size_t from = rng() % kDrawnElements * DTypeSize(dtype);
  for (std::span<std::byte> left(tensor.bytes_); !left.empty();) {
    const size_t some = std::min(left.size(), drawn.size() - from);
    std::memcpy(left.data(), drawn.data() + from, some);
    left = left.subspan(some);
    from = 0;
  }
  return tensor;
}

TestTensor TestTensor::OfAllMagnitudes(DType dtype, const Dims& shape, Rng& rng) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special[] = {std::nan(""), kInfinity, 0.0,   0x1p-149, 0x1p-24,
                            0x1p-133,     0x1p-126,  65504, 3e38,     1e4};
  std::vector<double> values(static_cast<size_t>(*NumElements(shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 16 == 15 ? special[rng() % std::size(special)]
                             : std::exp2(absl::Uniform(rng, -14.0, 8.0));
    if (rng() % 2 == 0) values[i] = -values[i];
  }
  return Of(dtype, shape, values);
}

TestTensor TestTensor::WithLayout(const Dims& strides, int64_t storage_offset) const {
  TensorDesc desc = desc_;
  desc.strides = strides;
  desc.storage_offset = storage_offset;
  TestTensor tensor(desc);
  const std::vector<std::byte> elements = DenseBytes();
  const size_t size = DTypeSize(desc.dtype);
  const std::byte* next = elements.data();
  ForEachOffset(desc.shape, desc.strides, [&](int64_t offset) {
    const auto element = static_cast<size_t>(desc.storage_offset + offset);
    std::memcpy(tensor.data() + element * size, next, size);
    next += size;
  });
  return tensor;
}

TestTensor TestTensor::Scattered(int64_t spread) const {
  Dims strides(desc_.shape.size(), 1);
  int64_t next = spread;
  for (size_t i = 0; i < strides.size(); ++i) {
    strides[i] = next;
    next *= std::max<int64_t>(desc_.shape[i], 1);
  }
  return WithLayout(strides, 3);
}

size_t TestTensor::ByteOffset(int64_t i) const {
  const int64_t offset = is_dense_ ? i : OffsetOf(desc_.shape, desc_.strides, i);
  const int64_t element = desc_.storage_offset + offset;
  return static_cast<size_t>(element) * DTypeSize(desc_.dtype);
}

double TestTensor::At(int64_t i) const {
  return LoadAsDouble(desc_.dtype, bytes_.data() + ByteOffset(i));
}

void TestTensor::Set(int64_t i, const Number& number) {
  ExpectStored(StoreElement(desc_.dtype, number, bytes_.data() + ByteOffset(i)));
}

std::vector<double> TestTensor::Values() const {
  const size_t size = DTypeSize(desc_.dtype);
  const std::byte* first = bytes_.data() + static_cast<size_t>(desc_.storage_offset) * size;
  std::vector<double> values(static_cast<size_t>(count()));
  double* next = values.data();
  ForEachOffset(desc_.shape, desc_.strides, [&](int64_t offset) {
    *next++ = LoadAsDouble(desc_.dtype, first + static_cast<size_t>(offset) * size);
  });
  return values;
}

std::vector<std::byte> TestTensor::DenseBytes() const {
  const size_t size = DTypeSize(desc_.dtype);
  std::vector<std::byte> elements(static_cast<size_t>(count()) * size);
  if (is_dense_ && !elements.empty()) {
    std::memcpy(elements.data(), bytes_.data() + ByteOffset(0), elements.size());
    return elements;
  }
  std::byte* next = elements.data();
  ForEachOffset(desc_.shape, desc_.strides, [&](int64_t offset) {
    const auto element = static_cast<size_t>(desc_.storage_offset + offset);
    std::memcpy(next, bytes_.data() + element * size, size);
    next += size;
  });
  return elements;
}

std::vector<double> BroadcastValues(const TestTensor& tensor, const Dims& shape) {
  const Dims& own = tensor.desc().shape;
  const size_t shift = shape.size() - own.size();
  Dims strides(shape.size(), 0);
  const Dims dense = DenseStrides(own);
  for (size_t d = 0; d < own.size(); ++d) strides[shift + d] = own[d] == 1 ? 0 : dense[d];
  const std::vector<double> values = tensor.Values();
  std::vector<double> broadcast;
  broadcast.reserve(static_cast<size_t>(*NumElements(shape)));
  ForEachOffset(shape, strides,
                [&](int64_t offset) { broadcast.push_back(values[static_cast<size_t>(offset)]); });
  return broadcast;
}

}  // namespace opserve::testing
