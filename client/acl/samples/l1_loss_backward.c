/* The gradient of a mean absolute error, in plain C and without help. */
#include <stdio.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_l1_loss_backward.h"

#define ELEMENTS 4

static int failed(const char* what, int status) {
  fprintf(stderr, "%s: error %d: %s\n", what, status, aclGetRecentErrMsg());
  return 1;
}

/* A dense tensor of `size` floats in new device memory; null when it cannot be made. */
static aclTensor* make_tensor(const float* values, int64_t size, void** data) {
  const size_t bytes = (size_t)size * sizeof(float);
  if (aclrtMalloc(data, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return NULL;
  if (aclrtMemcpy(*data, bytes, values, bytes, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS)
    return NULL;
  return aclCreateTensor(&size, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &size, 1, *data);
}

/* Both phases on the context's default stream, which a null stream stands for. */
static int run(aclTensor* const* tensors) {
  const int64_t mean = 1;
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  void* workspace = NULL;
  int status = aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], mean,
                                                   tensors[3], &size, &executor);
  if (status == 0 && size > 0) status = aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
  if (status == 0) status = aclnnL1LossBackward(workspace, size, executor, NULL);
  if (status == 0) status = aclrtSynchronizeStream(NULL);
  if (workspace != NULL) aclrtFree(workspace);
  return status;
}

int main(void) {
  static const float kExpected[ELEMENTS] = {-0.25f, 0, 0.25f, 0.25f};
  static const float kValues[4][ELEMENTS] = {{1}, {0, 1, 2, 3}, {1}, {0}};
  static const int64_t kSizes[4] = {1, ELEMENTS, 1, ELEMENTS}; /* grad and target are broadcast */
  void* data[4] = {NULL, NULL, NULL, NULL};
  aclTensor* tensors[4];
  float gradient[ELEMENTS];
  int status = aclInit(NULL);
  if (status == 0) status = aclrtSetDevice(0);
  if (status != 0) return failed("opening the device", status);
  for (int i = 0; i < 4; ++i) {
    tensors[i] = make_tensor(kValues[i], kSizes[i], &data[i]);
    if (tensors[i] == NULL) return failed("making a tensor", -1);
  }
  status = run(tensors);
  if (status != 0) return failed("L1LossBackward", status);
  status =
      aclrtMemcpy(gradient, sizeof gradient, data[3], sizeof gradient, ACL_MEMCPY_DEVICE_TO_HOST);
  if (status != 0) return failed("reading the gradient", status);
  printf("grad_input");
  for (int i = 0; i < ELEMENTS; ++i) {
    printf(" %.3f", gradient[i]);
    if (gradient[i] != kExpected[i]) return failed("not what is expected", i);
  }
  printf("\n");
  for (int i = 0; i < 4; ++i) {
    aclDestroyTensor(tensors[i]);
    aclrtFree(data[i]);
  }
  aclrtResetDevice(0);
  return aclFinalize();
}
