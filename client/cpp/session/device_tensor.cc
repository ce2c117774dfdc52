#include <opserve/device_tensor.h>

#include "client/cpp/session/session_command.h"

namespace opserve::client {

void DeviceBuffer::Free() const {
  if (object_ != nullptr) object_->Destroy();
}

DeviceTensor DeviceBuffer::Bytes(int64_t offset_bytes, int64_t count) const {
  return DeviceTensor::Of(*this, DType::kUint8, {count}, offset_bytes);
}

DeviceTensor DeviceTensor::Of(DeviceBuffer buffer, DType dtype, std::span<const int64_t> shape,
                              int64_t offset_bytes) {
  return {std::move(buffer), offset_bytes, TensorDesc::Dense(dtype, shape)};
}

DeviceTensor DeviceTensor::WithStrides(std::span<const int64_t> new_strides,
                                       int64_t new_offset) const {
  DeviceTensor tensor = *this;
  tensor.desc.strides.assign(new_strides.begin(), new_strides.end());
  tensor.desc.storage_offset = new_offset;
  return tensor;
}

}  // namespace opserve::client
