// Reading what others may write meanwhile.
#pragma once

#include "core/backends/cpu/elements.h"

namespace opserve::cpu {

// One load, which the compiler neither repeats nor leaves out: what was checked is what is used.
template <typename T>
T ReadOnce(const T* from) {
  return *static_cast<const volatile T*>(from);
}
inline Float16 ReadOnce(const Float16* from) { return {ReadOnce(&from->bits)}; }

}  // namespace opserve::cpu
