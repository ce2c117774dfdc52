#include "server/calls/shared_storages.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/codec/tensor_codec.h"

namespace opserve::server {
namespace {

absl::Status CheckInside(const v1::SharedView& view, int64_t region_bytes,
                         const std::string& name) {
  const int64_t offset = view.offset_bytes();
  if (offset < 0 || offset > region_bytes) {
    return OutOfRange(name, absl::StrCat("an offset_bytes from 0 to the region's ", region_bytes),
                      absl::StrCat(offset));
  }
  if (view.size_bytes() >= 0 && view.size_bytes() <= region_bytes - offset) return absl::OkStatus();
  return OutOfRange(name,
                    absl::StrCat("a size_bytes from 0 to ", region_bytes - offset,
                                 ", what the region has from offset_bytes ", offset, " on"),
                    absl::StrCat(view.size_bytes()));
}

absl::Status CheckAlignment(const v1::Tensor& tensor) {
  const v1::SharedView& view = tensor.shared();
  OPSERVE_ASSIGN_OR_RETURN(const DType dtype, DecodeDType(tensor.dtype(), tensor.name()));
  const auto alignment = std::max<int64_t>(1, static_cast<int64_t>(DTypeSize(dtype)));
  if (view.offset_bytes() % alignment == 0) return absl::OkStatus();
  return InvalidParameter(tensor.name(),
                          absl::StrCat("an offset_bytes that is a multiple of ", alignment),
                          absl::StrCat(view.offset_bytes()));
}

class Finder {
 public:
  Finder(const RegionTable* table, HeldRegions& held) : table_(table), held_(held) {}

  absl::StatusOr<std::span<std::byte>> Find(const v1::Tensor& tensor) {
    const std::string& name = tensor.name();
    const v1::SharedView& view = tensor.shared();
    if (table_ == nullptr) {
      return MakeError({.reason = ErrorReason::kNoSharedMemory,
                        .op = {},
                        .parameter = name,
                        .want = "data (raw_index or values): this server allows no shared memory",
                        .got = "shared"});
    }
    std::shared_ptr<SharedRegion> region = table_->Find(view.region());
    if (region == nullptr) {
      return MakeError(
          {.reason = ErrorReason::kObjectNotFound,
           .op = {},
           .parameter = name,
           .want = "a region that a connected client has",
           .got = absl::StrCat("an unknown one, of ", view.region().size(), " bytes")});
    }
    OPSERVE_RETURN_IF_ERROR(CheckInside(view, static_cast<int64_t>(region->bytes().size()), name));
    OPSERVE_RETURN_IF_ERROR(CheckAlignment(tensor));
    const std::span<std::byte> bytes = region->bytes().subspan(
        static_cast<size_t>(view.offset_bytes()), static_cast<size_t>(view.size_bytes()));
    Hold(std::move(region));
    return bytes;
  }

 private:
  // Most calls have all their tensors in one.
  void Hold(std::shared_ptr<const SharedRegion> region) {
    if (held_.empty() || held_.back() != region) held_.push_back(std::move(region));
  }

  const RegionTable* const table_;
  HeldRegions& held_;
};

absl::Status Add(const v1::Call& call, Finder finder, OneShot& shot) {
  for (const v1::Tensor& tensor : call.inputs()) {
    if (!tensor.has_shared()) continue;
    OPSERVE_ASSIGN_OR_RETURN(const std::span<std::byte> bytes, finder.Find(tensor));
    shot.storages.emplace_back(bytes);
    ++shot.shared_storages;
  }
  for (const v1::Tensor& tensor : call.outputs()) {
    if (!tensor.has_shared()) continue;
    OPSERVE_ASSIGN_OR_RETURN(const std::span<std::byte> bytes, finder.Find(tensor));
    shot.output_storages.push_back(bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddSharedStorages(const v1::Call& call, const RegionTable* regions, OneShot& shot,
                               HeldRegions& held) {
  absl::Status status = Add(call, Finder(regions, held), shot);
  return status.ok() ? status : WithOperator(std::move(status), call.op());
}

void EncodeSharedOutputs(const v1::Call& call, const OpCall& planned, TensorList& outputs) {
  for (const v1::Tensor& given : call.outputs()) {
    const int output = given.has_shared() ? planned.op->FindOutput(given.name()) : -1;
    if (output >= 0 && planned.output(output).wanted)
      *outputs[output].mutable_shared() = given.shared();
  }
}

}  // namespace opserve::server
