// Embedding and EmbeddingDenseBackward: values and rules that the contract states.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing::embedding_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TestTensor Ints(const std::vector<double>& values, DType dtype = DType::kInt64) {
  return TestTensor::Of(dtype, {static_cast<int64_t>(values.size())}, values);
}

TestTensor Rows(int64_t width, const std::vector<double>& values) {
  return TestTensor::Of(DType::kFloat32, {static_cast<int64_t>(values.size()) / width, width},
                        values);
}

TEST(EmbeddingTest, AnIndexOutsideIsAnErrorThatNamesIt) {
  const TestTensor weight = Rows(2, {1, 2, 3, 4});
  EXPECT_THAT(*FirstOutput(CallOf("Embedding", {weight, Ints({1, 0, 1})}, {})),
              ElementsAre(3, 4, 1, 2, 3, 4));
  const absl::Status status =
      FirstOutput(CallOf("Embedding", {weight, Ints({0, 2, -1})}, {})).status();
  ExpectError(status, kParamInvalid, "indices");
  EXPECT_THAT(std::string(status.message()), HasSubstr("2 at 1"));
  ExpectError(FirstOutput(CallOf("Embedding", {weight, Ints({-1}, DType::kInt32)}, {})).status(),
              kParamInvalid, "indices");
}

// Of 100000, in whatever chunk they are found.
TEST(EmbeddingTest, TheFirstOfManyIsNamed) {
  std::vector<double> indices(100000, 0.0);
  for (const size_t at : {90000, 40000, 70000}) indices[at] = static_cast<double>(at);
  const std::unique_ptr<Engine> engine = MakeEngine(3);
  const absl::Status status =
      testing::Run(*engine, CallOf("Embedding", {Rows(1, {1, 2}), Ints(indices)}, {})).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("40000 at 40000"));
}

TEST(EmbeddingTest, GradientsOfARowAreAddedOrAveraged) {
  const TestTensor grad = Rows(1, {1, 2, 4, 8});
  const auto gradient = [&](int64_t padding, bool scale) {
    return *FirstOutput(
        CallOf("EmbeddingDenseBackward", {grad, Ints({2, 0, 2, 0})}, {int64_t{4}, padding, scale}));
  };
  EXPECT_THAT(gradient(-1, false), ElementsAre(10, 0, 5, 0));
  EXPECT_THAT(gradient(2, false), ElementsAre(10, 0, 0, 0));
  EXPECT_THAT(gradient(0, true), ElementsAre(0, 0, 2.5, 0));
  EXPECT_THAT(gradient(1000, true), ElementsAre(5, 0, 2.5, 0));
}

TEST(EmbeddingTest, IndicesOfTheGradientAreChecked) {
  ExpectError(FirstOutput(CallOf("EmbeddingDenseBackward", {Rows(1, {1}), Ints({3})}, {int64_t{3}}))
                  .status(),
              kParamInvalid, "indices");
  ExpectError(
      PlanCase(CallOf("EmbeddingDenseBackward", {Rows(1, {1}), Ints({0})}, {int64_t{1} << 61}))
          .status(),
      kParamInvalid, "num_weights");
}

TEST(EmbeddingTest, RowsWithoutIndicesAreZero) {
  EXPECT_THAT(
      *FirstOutput(CallOf("EmbeddingDenseBackward",
                          {TestTensor::Full(DType::kFloat32, {0, 2}, 0), Ints({})}, {int64_t{2}})),
      ElementsAre(0, 0, 0, 0));
}

}  // namespace
}  // namespace opserve::testing::embedding_test
