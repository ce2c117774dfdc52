// What calls and their tensors are in the messages of opserve.v1, whichever message carries them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <opserve/call.h>

#include "absl/status/statusor.h"
#include "client/cpp/values/request.h"
#include "opserve/v1/types.pb.h"

namespace opserve::client {

// Entries of a message's `raw` field, which Tensor.raw_index counts.
struct RawEntry {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps `bytes`; may be null
};

// Dtype and layout; not where the bytes are.
void FillTensor(std::string_view name, const TensorView& view, v1::Tensor& tensor);
void FillTensor(std::string_view name, const TensorDesc& desc, v1::Tensor& tensor);

void FillAttribute(const std::string& name, const AttributeValue& value, v1::Attribute& attribute);
// nullopt where there is none.
std::optional<AttributeValue> ReadAttributeValue(const v1::Attribute& attribute);

// All but the data of the inputs.
void FillCall(const Call& call, v1::Call& message);

// The data of the inputs of `message`, which FillCall filled. Views of the same storage share one
// entry; those of shared memory have none.
std::vector<RawEntry> FillRawIndices(const Call& call, v1::Call& message);

// Where a tensor that is in shared memory is.
void FillShared(const SharedPlace& place, v1::Tensor& tensor);
// Where the outputs of `message`, which FillCall filled, are to be written.
void FillSharedOutputs(const Call& call, v1::Call& message);

// Appends a field of bytes. Large bytes are referred to, small ones copied.
void AppendRaw(uint32_t field_number, const RawEntry& entry, Request& request);
// Whether AppendRaw copies them.
bool IsCopied(std::span<const std::byte> bytes);

void AppendVarint(uint64_t value, std::string& bytes);

}  // namespace opserve::client
