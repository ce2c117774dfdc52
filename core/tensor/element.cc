#include "core/tensor/element.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/tensor/half.h"

namespace opserve {
namespace {

template <typename T>
void Put(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof(value));
}

template <typename T>
T Get(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(value));
  return value;
}

// Holds every 64-bit integer and every double, so that what follows rounds once.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::digits >= 64);

// Binary32 by rounding to odd: rounding the result once more to a half type gives what one rounding
// of `value` would.
float RoundToOdd(Wide value) {
  const float nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<Wide>(nearest) == value) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<Wide>(nearest)) > std::fabs(value)) --bits;  // towards zero
  return std::bit_cast<float>(bits | 1u);
}

std::string NumberToString(const Number& number) {
  return std::visit(
      [](auto value) -> std::string {
        if constexpr (std::is_same_v<decltype(value), bool>) return value ? "true" : "false";
        return absl::StrCat(value);
      },
      number);
}

absl::Status NotHeld(DType dtype, const Number& number) {
  return OutOfRange("", absl::StrCat("a number that ", std::string(DTypeName(dtype)), " holds"),
                    NumberToString(number));
}

template <typename T>
T To(const Number& number) {
  return std::visit([](auto value) { return static_cast<T>(value); }, number);
}

void StoreFloating(DType dtype, Wide value, std::byte* element) {
  switch (dtype) {
    case DType::kFloat64:
      return Put(static_cast<double>(value), element);
    case DType::kFloat16:
      return Put(FloatToFloat16(RoundToOdd(value)), element);
    case DType::kBFloat16:
      return Put(FloatToBFloat16(RoundToOdd(value)), element);
    default:
      return Put(static_cast<float>(value), element);
  }
}

template <typename T>
bool StoreInteger(const Number& number, std::byte* element) {
  return std::visit(
      [element](auto value) {
        if constexpr (std::is_same_v<decltype(value), double>) {
          return false;
        } else if constexpr (std::is_same_v<decltype(value), bool>) {
          Put(static_cast<T>(value ? 1 : 0), element);
          return true;
        } else {
          const bool fits = std::in_range<T>(value);
          if (fits) Put(static_cast<T>(value), element);
          return fits;
        }
      },
      number);
}

bool StoreBool(const Number& number, std::byte* element) {
  if (std::holds_alternative<double>(number)) return false;
  const double value = To<double>(number);
  if (value != 0 && value != 1) return false;
  Put(static_cast<uint8_t>(value), element);
  return true;
}

bool StoreNonFloating(DType dtype, const Number& number, std::byte* element) {
  switch (dtype) {
    case DType::kInt8:
      return StoreInteger<int8_t>(number, element);
    case DType::kInt16:
      return StoreInteger<int16_t>(number, element);
    case DType::kInt32:
      return StoreInteger<int32_t>(number, element);
    case DType::kInt64:
      return StoreInteger<int64_t>(number, element);
    case DType::kUint8:
      return StoreInteger<uint8_t>(number, element);
    case DType::kUint16:
      return StoreInteger<uint16_t>(number, element);
    case DType::kUint32:
      return StoreInteger<uint32_t>(number, element);
    case DType::kUint64:
      return StoreInteger<uint64_t>(number, element);
    case DType::kBool:
      return StoreBool(number, element);
    default:
      return false;
  }
}

template <typename T>
std::string ShortestText(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return {text, end};
}

// Shortest decimal that rounds back to the same half-precision element: more digits until it does.
std::string ShortestHalfText(DType dtype, const std::byte* element) {
  const double value = LoadAsDouble(dtype, element);
  if (!std::isfinite(value)) return ShortestText(value);
  std::string text;
  for (int digits = 1; digits <= std::numeric_limits<float>::max_digits10; ++digits) {
    char buffer[64];
    const auto [end, error] =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, digits);
    text.assign(buffer, end);
    double parsed = 0;
    std::from_chars(text.data(), text.data() + text.size(), parsed);
    std::byte again[sizeof(uint16_t)];
    StoreFloating(dtype, parsed, again);
    if (std::memcmp(again, element, sizeof(again)) == 0) break;
  }
  return text;
}

// Exact.
double LoadFloating(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kFloat16:
      return Float16ToFloat(Get<uint16_t>(element));
    case DType::kBFloat16:
      return BFloat16ToFloat(Get<uint16_t>(element));
    case DType::kFloat32:
      return Get<float>(element);
    default:
      return Get<double>(element);
  }
}

}  // namespace

absl::Status StoreElement(DType dtype, const Number& number, std::byte* element) {
  if (IsFloating(dtype)) {
    StoreFloating(dtype, To<Wide>(number), element);
    return absl::OkStatus();
  }
  return StoreNonFloating(dtype, number, element) ? absl::OkStatus() : NotHeld(dtype, number);
}

Number LoadElement(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
    case DType::kFloat64:
      return LoadFloating(dtype, element);
    case DType::kInt8:
      return int64_t{Get<int8_t>(element)};
    case DType::kInt16:
      return int64_t{Get<int16_t>(element)};
    case DType::kInt32:
      return int64_t{Get<int32_t>(element)};
    case DType::kInt64:
      return Get<int64_t>(element);
    case DType::kUint8:
      return uint64_t{Get<uint8_t>(element)};
    case DType::kUint16:
      return uint64_t{Get<uint16_t>(element)};
    case DType::kUint32:
      return uint64_t{Get<uint32_t>(element)};
    case DType::kUint64:
      return Get<uint64_t>(element);
    case DType::kBool:
      return Get<uint8_t>(element) != 0;
    case DType::kUndefined:
      break;
  }
  return 0.0;
}

double LoadAsDouble(DType dtype, const std::byte* element) {
  return IsFloating(dtype) ? LoadFloating(dtype, element) : To<double>(LoadElement(dtype, element));
}

std::string ElementToString(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kFloat32:
      return ShortestText(Get<float>(element));
    case DType::kFloat16:
    case DType::kBFloat16:
      return ShortestHalfText(dtype, element);
    case DType::kFloat64:
      return ShortestText(Get<double>(element));
    default:
      return NumberToString(LoadElement(dtype, element));
  }
}

}  // namespace opserve
