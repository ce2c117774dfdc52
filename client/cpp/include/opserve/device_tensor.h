// Memory that a session holds on a device, tensors that lie in it, and calls on them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <opserve/call.h>

#include "core/tensor/tensor_desc.h"

namespace opserve::client {

class RemoteObject;
struct DeviceTensor;

// Untyped memory on the device of a context, made by Context::Allocate. Copies share it; it is
// freed when the last of them is gone, those in tensors, calls and executors included. Work on
// streams that still uses it is not disturbed. Thread-safe.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;  // no memory
  explicit DeviceBuffer(std::shared_ptr<RemoteObject> object, int64_t size_bytes)
      : object_(std::move(object)), size_bytes_(size_bytes) {}

  int64_t size_bytes() const { return size_bytes_; }
  // Frees the memory now, for all copies. Commands that name it later fail.
  void Free() const;

  // A part as bytes: a uint8 tensor of rank 1.
  DeviceTensor Bytes(int64_t offset_bytes, int64_t count) const;

  const std::shared_ptr<RemoteObject>& object() const { return object_; }

 private:
  std::shared_ptr<RemoteObject> object_;
  int64_t size_bytes_ = 0;
};

// A layout over a buffer. A value; several tensors may lie in one buffer.
//
// The server checks that the layout fits the buffer (161002).
struct DeviceTensor {
  DeviceBuffer buffer;
  int64_t offset_bytes = 0;  // of the storage, in the buffer
  TensorDesc desc;           // strides and offset are those inside the storage

  // Dense row-major.
  static DeviceTensor Of(DeviceBuffer buffer, DType dtype, std::span<const int64_t> shape,
                         int64_t offset_bytes = 0);
  static DeviceTensor Of(DeviceBuffer buffer, DType dtype, std::initializer_list<int64_t> shape,
                         int64_t offset_bytes = 0) {
    return Of(std::move(buffer), dtype, std::span<const int64_t>(shape.begin(), shape.size()),
              offset_bytes);
  }

  // This tensor with other strides and another first element, in elements: a slice, a
  // transposition.
  DeviceTensor WithStrides(std::span<const int64_t> new_strides, int64_t new_offset) const;
  DeviceTensor WithStrides(std::initializer_list<int64_t> new_strides,
                           int64_t new_offset = 0) const {
    return WithStrides(std::span<const int64_t>(new_strides.begin(), new_strides.size()),
                       new_offset);
  }
};

// One call of an operator on tensors of a context: what Context::CreateExecutor plans. A value.
class DeviceCall {
 public:
  // `op` without the aclnn prefix: "SmoothL1LossBackward".
  explicit DeviceCall(std::string_view op) : call_(op) {}
  explicit DeviceCall(Program program) : call_(std::move(program)) {}

  DeviceCall& Input(std::string_view name, DeviceTensor tensor) {
    inputs_.emplace_back(std::string(name), std::move(tensor));
    return *this;
  }
  // Where an output is written, in any layout whose elements do not overlap. Outputs without a
  // tensor are returned by Stream::ExecuteAndReceive.
  DeviceCall& Output(std::string_view name, DeviceTensor tensor) {
    outputs_.emplace_back(std::string(name), std::move(tensor));
    return *this;
  }
  // As Call::Attribute.
  template <typename T>
  DeviceCall& Attribute(std::string_view name, T&& value) {
    call_.Attribute(name, std::forward<T>(value));
    return *this;
  }
  // Asks for an output that has no tensor in another dtype than the operator infers.
  DeviceCall& OutputDType(std::string_view name, DType dtype) {
    call_.OutputDType(name, dtype);
    return *this;
  }

  const std::string& op() const { return call_.op(); }
  // All but the tensors.
  const Call& call() const { return call_; }
  const std::vector<std::pair<std::string, DeviceTensor>>& inputs() const { return inputs_; }
  const std::vector<std::pair<std::string, DeviceTensor>>& outputs() const { return outputs_; }

 private:
  Call call_;
  std::vector<std::pair<std::string, DeviceTensor>> inputs_;
  std::vector<std::pair<std::string, DeviceTensor>> outputs_;
};

}  // namespace opserve::client
