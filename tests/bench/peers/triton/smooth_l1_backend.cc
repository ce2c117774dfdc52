// A backend of Triton's that computes SmoothL1LossBackward (reduction none, beta 1) on FP32: what a
// careful user of Triton would write, to be measured beside opserve. Triton loads it by the
// functions of its public backend interface that are declared here, as far as it needs them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// The names are Triton's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
struct TRITONSERVER_Error;
struct TRITONBACKEND_ModelInstance;
struct TRITONBACKEND_Request;
struct TRITONBACKEND_Response;
struct TRITONBACKEND_Input;
struct TRITONBACKEND_Output;

TRITONSERVER_Error* TRITONSERVER_ErrorNew(int code, const char* message);
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error);
TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                               TRITONBACKEND_Input** input);
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request, uint32_t flags);
TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  int* datatype, const int64_t** shape,
                                                  uint32_t* rank, uint64_t* bytes,
                                                  uint32_t* buffers);
TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, uint32_t index,
                                              const void** buffer, uint64_t* bytes, int* memory,
                                              int64_t* memory_id);
TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request);
TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 int datatype, const int64_t* shape, uint32_t rank);
TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               uint64_t bytes, int* memory, int64_t* memory_id);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, bool success,
    uint64_t start_ns, uint64_t compute_start_ns, uint64_t compute_end_ns, uint64_t end_ns);
TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response, uint32_t flags,
                                               TRITONSERVER_Error* error);

// What Triton calls: some requests, each to be answered and released.
__attribute__((visibility("default"))) TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count);
}

namespace {

// Of Triton's enumerations.
constexpr int kInvalidArgument = 3;
constexpr int kFp32 = 11;
constexpr int kCpuMemory = 0;
constexpr uint32_t kFinal = 1;
constexpr uint32_t kReleaseAll = 1;

// An input's elements, side by side.
struct Input {
  const float* data = nullptr;
  const int64_t* shape = nullptr;
  uint32_t rank = 0;
  size_t count = 0;
  std::vector<float> gathered;  // of one that came in pieces
};

TRITONSERVER_Error* Refuse(const char* why) { return TRITONSERVER_ErrorNew(kInvalidArgument, why); }

TRITONSERVER_Error* Read(TRITONBACKEND_Request* request, const char* name, Input& out) {
  TRITONBACKEND_Input* input = nullptr;
  if (auto* error = TRITONBACKEND_RequestInput(request, name, &input)) return error;
  const char* its_name = nullptr;
  int datatype = 0;
  uint64_t bytes = 0;
  uint32_t buffers = 0;
  if (auto* error = TRITONBACKEND_InputProperties(input, &its_name, &datatype, &out.shape,
                                                  &out.rank, &bytes, &buffers))
    return error;
  if (datatype != kFp32) return Refuse("want FP32");
  out.count = bytes / sizeof(float);
  if (buffers != 1) out.gathered.resize(out.count);
  size_t at = 0;
  for (uint32_t i = 0; i < buffers; ++i) {
    const void* piece = nullptr;
    int memory = kCpuMemory;
    int64_t memory_id = 0;
    uint64_t size = 0;
    if (auto* error = TRITONBACKEND_InputBuffer(input, i, &piece, &size, &memory, &memory_id))
      return error;
    if (buffers == 1) {
      out.data = static_cast<const float*>(piece);
      return nullptr;
    }
    std::memcpy(reinterpret_cast<char*>(out.gathered.data()) + at, piece, size);
    at += size;
  }
  out.data = out.gathered.data();
  return nullptr;
}

void Compute(const float* __restrict gradient, const float* __restrict self,
             const float* __restrict target, float* __restrict out, size_t count) {
  for (size_t i = 0; i < count; ++i)
    out[i] = gradient[i] * std::clamp(self[i] - target[i], -1.0F, 1.0F);
}

TRITONSERVER_Error* Answer(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) {
  std::array<Input, 3> inputs;
  constexpr std::array<const char*, 3> kNames = {"grad_out", "self", "target"};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (auto* error = Read(request, kNames[i], inputs[i])) return error;
    if (inputs[i].count != inputs[0].count) return Refuse("want inputs of one shape");
  }
  TRITONBACKEND_Output* output = nullptr;
  if (auto* error = TRITONBACKEND_ResponseOutput(response, &output, "grad_input", kFp32,
                                                 inputs[0].shape, inputs[0].rank))
    return error;
  void* buffer = nullptr;
  int memory = kCpuMemory;
  int64_t memory_id = 0;
  if (auto* error = TRITONBACKEND_OutputBuffer(output, &buffer, inputs[0].count * sizeof(float),
                                               &memory, &memory_id))
    return error;
  if (memory != kCpuMemory) return Refuse("want memory of the host");
  Compute(inputs[0].data, inputs[1].data, inputs[2].data, static_cast<float*>(buffer),
          inputs[0].count);
  return nullptr;
}

uint64_t Now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void Drop(TRITONSERVER_Error* error) {
  if (error != nullptr) TRITONSERVER_ErrorDelete(error);
}

}  // namespace

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start = Now();
    bool is_good = false;
    TRITONBACKEND_Response* response = nullptr;
    Drop(TRITONBACKEND_ResponseNew(&response, requests[i]));
    if (response != nullptr) {
      TRITONSERVER_Error* error = Answer(requests[i], response);
      is_good = error == nullptr;
      Drop(TRITONBACKEND_ResponseSend(response, kFinal, error));
      Drop(error);
    }
    // perf_analyzer reads Triton's counts, which grow by this.
    const uint64_t end = Now();
    Drop(TRITONBACKEND_ModelInstanceReportStatistics(instance, requests[i], is_good, start, start,
                                                     end, end));
    Drop(TRITONBACKEND_RequestRelease(requests[i], kReleaseAll));
  }
  return nullptr;
}
// NOLINTEND(readability-identifier-naming)
