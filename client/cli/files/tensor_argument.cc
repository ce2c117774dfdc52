#include "client/cli/files/tensor_argument.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/files/files.h"
#include "client/cli/formats/literal.h"
#include "client/cli/formats/npy.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

using client::TensorView;

// One gRPC message holds no more.
constexpr int64_t kMaxBytes = std::numeric_limits<uint32_t>::max();

absl::StatusOr<TensorView> FromLiteral(std::string_view text, TensorUse use) {
  OPSERVE_ASSIGN_OR_RETURN(const Literal literal, ParseLiteral(text));
  TensorView view;
  view.dtype = literal.dtype;
  view.shape = literal.shape;
  view.strides = literal.strides;
  view.storage_offset = literal.storage_offset;
  if (use == TensorUse::kPlan) return view;
  OPSERVE_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, LiteralBytes(literal, kMaxBytes));
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  view.storage = *owner;
  view.owner = std::move(owner);
  return view;
}

// Nothing more of what is no .npy file.
size_t NpyBytesWanted(std::span<const std::byte> start) { return NpyFileBytes(start).value_or(0); }

absl::StatusOr<MappedFile> WholeFile(const std::string& path) {
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<const std::string> contents,
                           ReadFile(path, NpyBytesWanted));
  return MappedFile{std::as_bytes(std::span(*contents)), contents};
}

absl::StatusOr<TensorView> FromFile(const std::string& path, TensorUse use) {
  OPSERVE_ASSIGN_OR_RETURN(const MappedFile file, use == TensorUse::kRun
                                                      ? WholeFile(path)
                                                      : MapFile(path, NpyBytesWanted));
  OPSERVE_ASSIGN_OR_RETURN(const NpyTensor tensor, ParseNpy(file.bytes));
  TensorView view = TensorView::OfBytes(tensor.desc.dtype, tensor.desc.shape, tensor.data);
  if (!tensor.desc.IsPlain()) view.strides = tensor.desc.strides;
  view.owner = file.owner;
  return view;
}

// `status` with `name` in front of what it says.
absl::Status Naming(std::string_view name, const absl::Status& status) {
  std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value())
    return {status.code(), absl::StrCat(ToAbsl(name), ": ", status.message())};
  if (detail->parameter.empty()) detail->parameter = name;
  return MakeError(*detail);
}

}  // namespace

absl::StatusOr<TensorView> ReadTensorArgument(std::string_view name, std::string_view value,
                                              TensorUse use) {
  if (LooksLikeLiteral(value)) {
    absl::StatusOr<TensorView> view = FromLiteral(value, use);
    return view.ok() ? std::move(view) : Naming(name, view.status());
  }
  absl::StatusOr<TensorView> view = FromFile(std::string(value), use);
  if (view.ok()) return view;
  if (absl::IsNotFound(view.status())) {
    return InvalidParameter(name, "a .npy file, - or a literal such as f32[2,2]{0,1,2,3}",
                            absl::StrCat("'", ToAbsl(value), "', which is no file"));
  }
  return Naming(name, view.status());
}

}  // namespace opserve::cli
