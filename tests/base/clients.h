// Clients that tests have.
#pragma once

#include "core/base/client_id.h"

namespace opserve {

inline constexpr ClientId kFirst{1};
inline constexpr ClientId kSecond{2};
inline constexpr ClientId kThird{3};

}  // namespace opserve
