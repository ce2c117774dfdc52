// How many cores this process may use: its CPU affinity, limited by the cgroup's CPU quota (v2 and
// v1).
#pragma once

#include <optional>
#include <string_view>

namespace opserve {

// At least 1.
int UsableCores();

// Cores that a cgroup quota allows, rounded up; nullopt = no limit. `cpu_max` is the text of cgroup
// v2's cpu.max.
std::optional<int> CoresOfCpuMax(std::string_view cpu_max);

}  // namespace opserve
