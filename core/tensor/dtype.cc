#include "core/tensor/dtype.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "core/base/strings.h"

namespace opserve {
namespace {

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::string_view short_name;
  std::string_view acl_name;
};

constexpr std::array<DTypeInfo, kNumDTypes> kDTypes = {{
    {DType::kUndefined, "undefined", "undefined", ""},
    {DType::kFloat32, "float32", "f32", "float"},
    {DType::kFloat16, "float16", "f16", "half"},
    {DType::kBFloat16, "bfloat16", "bf16", ""},
    {DType::kFloat64, "float64", "f64", "double"},
    {DType::kInt8, "int8", "i8", "s8"},
    {DType::kInt16, "int16", "i16", "s16"},
    {DType::kInt32, "int32", "i32", "s32"},
    {DType::kInt64, "int64", "i64", "s64"},
    {DType::kUint8, "uint8", "u8", ""},
    {DType::kUint16, "uint16", "u16", ""},
    {DType::kUint32, "uint32", "u32", ""},
    {DType::kUint64, "uint64", "u64", ""},
    {DType::kBool, "bool", "b8", ""},
}};

const DTypeInfo& Info(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }

DType Wider(DType a, DType b) { return DTypeSize(a) >= DTypeSize(b) ? a : b; }

}  // namespace

std::string_view DTypeName(DType dtype) { return Info(dtype).name; }
std::string_view DTypeShortName(DType dtype) { return Info(dtype).short_name; }

std::optional<DType> ParseDType(std::string_view name) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(name));
  for (const DTypeInfo& info : kDTypes) {
    if (info.dtype == DType::kUndefined) continue;
    if (lower == info.name || lower == info.short_name ||
        (!info.acl_name.empty() && lower == info.acl_name))
      return info.dtype;
  }
  return std::nullopt;
}

DType PromoteDTypes(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::kUndefined || b == DType::kUndefined) return DType::kUndefined;
  for (const DType lone : {DType::kUint16, DType::kUint32, DType::kUint64}) {
    if (a == lone || b == lone) return DType::kUndefined;
  }
  if (IsFloating(a) && IsFloating(b))
    return DTypeSize(a) == DTypeSize(b) ? DType::kFloat32 : Wider(a, b);
  if (IsFloating(a)) return a;
  if (IsFloating(b)) return b;
  if (a == DType::kBool) return b;
  if (b == DType::kBool) return a;
  // Integers: of the unsigned ones only u8 is left.
  if (DTypeKindOf(a) != DTypeKindOf(b) && DTypeSize(a) == DTypeSize(b)) return DType::kInt16;
  return Wider(a, b);
}

bool CanCast(DType from, DType to) {
  const DTypeKind source = DTypeKindOf(from);
  const DTypeKind target = DTypeKindOf(to);
  if (source == DTypeKind::kUndefined || target == DTypeKind::kUndefined) return false;
  if (target == DTypeKind::kBool) return source == DTypeKind::kBool;
  if (source == DTypeKind::kFloat) return target == DTypeKind::kFloat;
  return true;
}

std::string DTypeSet::ToString() const {
  std::vector<std::string_view> names;
  for (const DTypeInfo& info : kDTypes) {
    if (Contains(info.dtype)) names.push_back(info.name);
  }
  if (names.empty()) return "none";
  std::string text(names[0]);
  for (size_t i = 1; i < names.size(); ++i) {
    text.append(i + 1 == names.size() ? " or " : ", ").append(names[i]);
  }
  return text;
}

}  // namespace opserve
