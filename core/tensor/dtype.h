// Element types: sizes, names, kinds, promotion and casting rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace opserve {

enum class DType : uint8_t {
  kUndefined,
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kBool,
};
inline constexpr int kNumDTypes = 14;  // with kUndefined

enum class DTypeKind : uint8_t { kUndefined, kFloat, kSignedInt, kUnsignedInt, kBool };

// Bytes an element; 0 for kUndefined.
constexpr size_t DTypeSize(DType dtype) {
  constexpr uint8_t kSizes[kNumDTypes] = {0, 4, 2, 2, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return kSizes[static_cast<size_t>(dtype)];
}
constexpr DTypeKind DTypeKindOf(DType dtype) {
  if (dtype == DType::kUndefined) return DTypeKind::kUndefined;
  if (dtype <= DType::kFloat64) return DTypeKind::kFloat;
  if (dtype <= DType::kInt64) return DTypeKind::kSignedInt;
  return dtype == DType::kBool ? DTypeKind::kBool : DTypeKind::kUnsignedInt;
}
// PyTorch's name ("float32", "bfloat16") and the short one ("f32", "bf16"); "undefined" for
// kUndefined.
std::string_view DTypeName(DType dtype);
std::string_view DTypeShortName(DType dtype);
// Either name, any letter case, and ACL's ("FLOAT", "BF16", "DOUBLE"); nullopt for anything else.
std::optional<DType> ParseDType(std::string_view name);

constexpr bool IsFloating(DType dtype) { return DTypeKindOf(dtype) == DTypeKind::kFloat; }

// The dtype in which tensors of `a` and `b` are computed together; kUndefined where they do not go
// together. The wider of one kind; bf16 with f16 gives f32; float beats int and bool at its own
// width; u8 with s8 gives s16; bool is the weakest; u16, u32, u64 go only with themselves.
DType PromoteDTypes(DType a, DType b);

// Whether a result of `from` may be stored as `to`: narrowing is fine; float to int and non-bool to
// bool are not.
bool CanCast(DType from, DType to);

// A set of dtypes, as a value.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (const DType dtype : dtypes) bits_ = static_cast<uint16_t>(bits_ | Bit(dtype));
  }
  constexpr bool Contains(DType dtype) const { return (bits_ & Bit(dtype)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DTypeSet Union(DTypeSet other) const { return FromBits(bits_ | other.bits_); }
  constexpr DTypeSet Intersect(DTypeSet other) const { return FromBits(bits_ & other.bits_); }
  friend constexpr bool operator==(DTypeSet, DTypeSet) = default;

  // "float16, bfloat16 or float32", in enum order.
  std::string ToString() const;

 private:
  static constexpr uint16_t Bit(DType dtype) {
    return static_cast<uint16_t>(1u << static_cast<unsigned>(dtype));
  }
  static constexpr DTypeSet FromBits(unsigned bits) {
    DTypeSet set;
    set.bits_ = static_cast<uint16_t>(bits);
    return set;
  }
  uint16_t bits_ = 0;
};

inline constexpr DTypeSet kFloatDTypes{DType::kFloat32, DType::kFloat16, DType::kBFloat16};

}  // namespace opserve
