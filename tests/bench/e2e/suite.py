"""Everything that is measured, in order."""

from loops import large_groups, mixed_group, small_group, tensor_group, transfer_groups
from overload import overload_group, recovery_group

# Later: a group for tensors in shared memory, beside the same sizes in messages (loops.tensor_group). The client needs a
# transport that puts a workload's inputs into the segment; run, table and targets stay as they are.


def all_groups(sizes, large):
    groups = [small_group(sizes), tensor_group(sizes), *transfer_groups(sizes), mixed_group(sizes), overload_group(sizes),
              recovery_group(sizes)]
    return groups + (list(large_groups()) if large else [])
