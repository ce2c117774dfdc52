// Tensors, scalars and arrays.
#include "tests/acl/acl_fixture.h"

namespace opserve::acl_test {
namespace {

constexpr int64_t kShape[] = {2, 3};

aclTensor* MakeTensor(void* data) {
  return aclCreateTensor(kShape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, kShape, 2, data);
}

TEST(AclObjectsTest, NeedNoInit) {
  float value = 0.5f;
  const int64_t ints[] = {1, 2};
  const float floats[] = {1, 2};
  const bool bools[] = {true, false};
  const aclTensor* tensor = MakeTensor(nullptr);
  const aclScalar* scalar = aclCreateScalar(&value, ACL_FLOAT);
  const aclIntArray* int_array = aclCreateIntArray(ints, 2);
  const aclFloatArray* float_array = aclCreateFloatArray(floats, 2);
  const aclBoolArray* bool_array = aclCreateBoolArray(bools, 2);
  EXPECT_EQ(CountLiveOfAllKinds(), 5);
  for (const aclnnStatus want : {ACLNN_SUCCESS, ACLNN_ERR_PARAM_INVALID}) {
    EXPECT_EQ(aclDestroyTensor(tensor), want);
    EXPECT_EQ(aclDestroyScalar(scalar), want);
    EXPECT_EQ(aclDestroyIntArray(int_array), want);
    EXPECT_EQ(aclDestroyFloatArray(float_array), want);
    EXPECT_EQ(aclDestroyBoolArray(bool_array), want);
  }
  EXPECT_EQ(CountLiveOfAllKinds(), 0);
}

TEST(AclObjectsTest, DestroyingNothingIsFine) {
  EXPECT_EQ(aclDestroyTensor(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyIntArray(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyFloatArray(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyBoolArray(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(Foreign<aclTensor>()), ACLNN_ERR_PARAM_INVALID);
}

TEST(AclObjectsTest, CreationValidatesNothing) {
  const aclTensor* tensors[] = {
      aclCreateTensor(nullptr, 3, ACL_FLOAT, nullptr, -1, ACL_FORMAT_ND, nullptr, 2, nullptr),
      aclCreateTensor(kShape, uint64_t{1} << 60, static_cast<aclDataType>(99), kShape, 0,
                      static_cast<aclFormat>(99), kShape, 2, nullptr)};
  for (const aclTensor* tensor : tensors) {
    EXPECT_NE(tensor, nullptr);
    EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  }
  const aclScalar* scalar = aclCreateScalar(nullptr, static_cast<aclDataType>(99));
  EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_SUCCESS);
  const aclIntArray* array = aclCreateIntArray(nullptr, 5);
  EXPECT_EQ(aclDestroyIntArray(array), ACLNN_SUCCESS);
}

TEST(AclObjectsTest, TensorsTellWhatTheyAre) {
  int somewhere = 0;
  aclTensor* tensor = MakeTensor(&somewhere);
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  ASSERT_EQ(aclGetViewShape(tensor, &dims, &rank), ACLNN_SUCCESS);
  ASSERT_EQ(rank, 2u);
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(dims[1], 3);
  delete[] dims;
  aclDataType data_type = ACL_DT_UNDEFINED;
  EXPECT_EQ(aclGetDataType(tensor, &data_type), ACLNN_SUCCESS);
  EXPECT_EQ(data_type, ACL_FLOAT);
  void* address = nullptr;
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), ACLNN_SUCCESS);
  EXPECT_EQ(address, &somewhere);
  EXPECT_EQ(aclSetRawTensorAddr(tensor, &rank), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), ACLNN_SUCCESS);
  EXPECT_EQ(address, &rank);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
}

TEST(AclObjectsTest, GettersRefuseWhatIsNoTensor) {
  aclTensor* tensor = MakeTensor(nullptr);
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  aclDataType data_type = ACL_DT_UNDEFINED;
  void* address = nullptr;
  EXPECT_EQ(aclGetViewShape(tensor, nullptr, &rank), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetViewShape(tensor, &dims, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetDataType(tensor, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  struct Case {
    aclTensor* tensor;
    aclnnStatus code;
  };
  for (const auto& [bad, code] :
       {Case{nullptr, ACLNN_ERR_PARAM_NULLPTR}, Case{tensor, ACLNN_ERR_PARAM_INVALID},
        Case{Foreign<aclTensor>(), ACLNN_ERR_PARAM_INVALID}}) {
    EXPECT_EQ(aclGetViewShape(bad, &dims, &rank), code);
    EXPECT_EQ(aclGetDataType(bad, &data_type), code);
    EXPECT_EQ(aclGetRawTensorAddr(bad, &address), code);
    EXPECT_EQ(aclSetRawTensorAddr(bad, address), code);
  }
}

TEST(AclObjectsTest, ShapesOfRankZeroAndOfNoSense) {
  int64_t* dims = nullptr;
  uint64_t rank = 7;
  aclTensor* scalar =
      aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  EXPECT_EQ(aclGetViewShape(scalar, &dims, &rank), ACLNN_SUCCESS);
  EXPECT_EQ(rank, 0u);
  EXPECT_EQ(dims, nullptr);
  EXPECT_EQ(aclDestroyTensor(scalar), ACLNN_SUCCESS);
  aclTensor* senseless =
      aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  EXPECT_EQ(aclGetViewShape(senseless, &dims, &rank), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensor(senseless), ACLNN_SUCCESS);
}

}  // namespace
}  // namespace opserve::acl_test
