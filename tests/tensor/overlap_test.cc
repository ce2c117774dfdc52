#include "core/tensor/overlap.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/support/test_tensor.h"

namespace opserve {
namespace {

TensorDesc View(DType dtype, const Dims& shape, const Dims& strides, int64_t offset = 0) {
  TensorDesc desc = TensorDesc::Dense(dtype, shape);
  desc.strides = strides;
  desc.storage_offset = offset;
  return desc;
}

// Byte by byte.
bool Overlap(const PlacedTensor& a, const PlacedTensor& b) {
  std::vector<bool> taken;
  const auto visit = [&](const PlacedTensor& tensor, auto touch) {
    const TensorDesc& desc = tensor.desc;
    const auto size = static_cast<int64_t>(DTypeSize(desc.dtype));
    for (int64_t i = 0; i < desc.num_elements(); ++i) {
      const int64_t element = desc.storage_offset + testing::OffsetOf(desc.shape, desc.strides, i);
      for (int64_t k = 0; k < size; ++k)
        touch(static_cast<size_t>(tensor.start_bytes + element * size + k));
    }
  };
  visit(a, [&](size_t byte) {
    if (taken.size() <= byte) taken.resize(byte + 1);
    taken[byte] = true;
  });
  bool found = false;
  visit(b, [&](size_t byte) { found = found || (byte < taken.size() && taken[byte]); });
  return found;
}

TEST(MayOverlapTest, TellsApartWhatSlicingMakes) {
  constexpr DType kF32 = DType::kFloat32;
  // Neighbours; blocks of columns; of channels; even and odd elements; a transposed block.
  const std::vector<std::pair<TensorDesc, TensorDesc>> apart = {
      {View(kF32, {4}, {1}), View(kF32, {4}, {1}, 4)},
      {View(kF32, {8, 3}, {10, 1}), View(kF32, {8, 7}, {10, 1}, 3)},
      {View(kF32, {2, 3, 5}, {40, 5, 1}), View(kF32, {2, 5, 5}, {40, 5, 1}, 15)},
      {View(kF32, {6}, {2}), View(kF32, {6}, {2}, 1)},
      {View(kF32, {3, 8}, {1, 10}), View(kF32, {8, 7}, {10, 1}, 3)},
      {View(kF32, {0}, {1}), View(kF32, {4}, {1})}};
  for (const auto& [a, b] : apart) {
    EXPECT_FALSE(MayOverlap({a, 0}, {b, 0})) << ShapeToString(a.shape);
    EXPECT_FALSE(MayOverlap({b, 0}, {a, 0})) << ShapeToString(a.shape);
    EXPECT_FALSE(Overlap({a, 0}, {b, 0}));
  }
}

TEST(MayOverlapTest, StartsAndSizesAreInBytes) {
  const TensorDesc narrow = View(DType::kFloat16, {4}, {1});
  const TensorDesc wide = View(DType::kFloat64, {4}, {1});
  EXPECT_FALSE(MayOverlap({narrow, 0}, {wide, 8}));
  EXPECT_TRUE(MayOverlap({narrow, 2}, {wide, 8}));
  EXPECT_FALSE(MayOverlap({narrow, 40}, {wide, 8}));
  EXPECT_TRUE(MayOverlap({narrow, 38}, {wide, 8}));
}

TEST(MayOverlapTest, NeverMissesAnOverlap) {
  testing::Rng rng = testing::MakeRng(31);
  constexpr DType kDTypes[] = {DType::kBool, DType::kFloat16, DType::kFloat32, DType::kFloat64};
  const auto random_view = [&] {
    Dims shape(1 + rng() % 3);
    Dims strides(shape.size());
    for (int64_t& extent : shape) extent = static_cast<int64_t>(rng() % 5);
    for (int64_t& stride : strides) stride = static_cast<int64_t>(rng() % 13);
    return View(kDTypes[rng() % 4], shape, strides, static_cast<int64_t>(rng() % 20));
  };
  int overlaps = 0;
  int told_apart = 0;
  int apart = 0;
  for (int i = 0; i < 20'000; ++i) {
    const TensorDesc a = random_view();
    const TensorDesc b = random_view();
    const PlacedTensor first{a, static_cast<int64_t>(8 * (rng() % 8))};
    const PlacedTensor second{b, static_cast<int64_t>(8 * (rng() % 8))};
    if (Overlap(first, second)) {
      ++overlaps;
      ASSERT_TRUE(MayOverlap(first, second))
          << ShapeToString(a.shape) << ShapeToString(a.strides) << a.storage_offset << " "
          << ShapeToString(b.shape) << ShapeToString(b.strides) << b.storage_offset;
    } else {
      ++apart;
      told_apart += MayOverlap(first, second) ? 0 : 1;
    }
  }
  EXPECT_GT(overlaps, 1000);
  EXPECT_GT(told_apart, apart / 2);
}

}  // namespace
}  // namespace opserve
