// How much memory this process may use: the machine's, limited by its cgroup (v2 and v1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace opserve {

// At least 1.
int64_t UsableMemoryBytes();

// The tightest limit of this process's cgroup and its ancestors; nullopt = none. Reads
// /proc/self/cgroup and /sys/fs/cgroup beneath `root`.
std::optional<int64_t> CgroupMemoryBytes(const std::string& root);

}  // namespace opserve
