#include "core/op/profile.h"

namespace opserve {
namespace {

constexpr std::array<std::string_view, kNumProfiles> kNames = {"host", "atlas-a2", "atlas-a3",
                                                               "atlas-training", "atlas-inference"};

}  // namespace

std::string_view ProfileName(Profile profile) { return kNames[static_cast<size_t>(profile)]; }

std::optional<Profile> ParseProfile(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Profile>(i);
  }
  return std::nullopt;
}

std::span<const std::string_view> ProfileNames() { return kNames; }

}  // namespace opserve
