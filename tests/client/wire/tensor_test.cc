#include <opserve/tensor.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace opserve::client {
namespace {

using ::testing::ElementsAre;

static_assert(DTypeOf<float>() == DType::kFloat32 && DTypeOf<BFloat16>() == DType::kBFloat16 &&
              DTypeOf<bool>() == DType::kBool);
static_assert(DTypeOf<int8_t>() == DType::kInt8 && DTypeOf<uint16_t>() == DType::kUint16 &&
              DTypeOf<int64_t>() == DType::kInt64);
static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

template <typename Range>
concept Viewable = requires(Range&& range) {
  TensorView::Of(static_cast<Range&&>(range), std::span<const int64_t>());
};
static_assert(Viewable<const std::vector<float>&> && Viewable<std::span<const float>> &&
                  !Viewable<std::vector<float>>,
              "a view of a temporary would dangle");

TEST(TensorViewTest, LooksAtTheCallersMemory) {
  const std::vector<float> values(8);
  const TensorView view = TensorView::Of(values, {4, 2});
  EXPECT_EQ(view.dtype, DType::kFloat32);
  EXPECT_THAT(view.shape, ElementsAre(4, 2));
  EXPECT_TRUE(view.strides.empty());
  EXPECT_EQ(static_cast<const void*>(view.storage.data()), values.data());
  EXPECT_EQ(view.storage.size(), 32u);
  EXPECT_TRUE(view.Desc().IsPlain());
  const TensorDesc column = TensorView::Of(values, {4}).WithStrides({2}, 1).Desc();
  EXPECT_THAT(column.strides, ElementsAre(2));
  EXPECT_EQ(column.storage_offset, 1);
}

TEST(TensorTest, OwnsAndSharesItsMemory) {
  auto bytes = AllocateTensorBytes(8);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.get()) % 64, 0u);
  const float values[] = {1.5f, -2};
  std::memcpy(bytes.get(), values, sizeof(values));
  std::optional<Tensor> tensor(
      std::in_place, TensorDesc::Dense(DType::kFloat32, std::vector<int64_t>{2}), std::move(bytes));
  EXPECT_THAT(tensor->As<float>(), ElementsAre(1.5f, -2));
  EXPECT_THAT(tensor->ToDoubles(), ElementsAre(1.5, -2));
  const TensorView view = tensor->View();
  tensor.reset();
  EXPECT_EQ(reinterpret_cast<const float*>(view.storage.data())[1], -2);
}

TEST(TensorTest, EmptyTensorsAreFine) {
  EXPECT_EQ(Tensor().num_elements(), 0);
  EXPECT_TRUE(Tensor().As<float>().empty());
  EXPECT_TRUE(Tensor().ToDoubles().empty());
}

TEST(TensorDeathTest, AsStopsAtTheWrongType) {
  EXPECT_DEATH(Tensor().As<double>(), "asked for float64, the tensor is float32");
}

}  // namespace
}  // namespace opserve::client
