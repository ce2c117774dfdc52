// Product profiles: what a device accepts, so that a client can be proven portable to a product
// without owning one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/tensor/dtype.h"

namespace opserve {

enum class Profile : uint8_t {
  kHost,            // the union of everything, no hardware limits; the default
  kAtlasA2,         // Atlas A2 training, 800I A2 inference
  kAtlasA3,         // Atlas A3 training and inference
  kAtlasTraining,   // Atlas training series
  kAtlasInference,  // Atlas inference series
};
inline constexpr int kNumProfiles = 5;

// "host", "atlas-a2", …
std::string_view ProfileName(Profile profile);
std::optional<Profile> ParseProfile(std::string_view name);
std::span<const std::string_view> ProfileNames();

// For each profile the dtypes with which it runs an operator; an empty set = it does not have the
// operator. In Profile order.
using ProfileSupport = std::array<DTypeSet, kNumProfiles>;

}  // namespace opserve
