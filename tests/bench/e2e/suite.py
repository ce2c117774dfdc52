"""Everything that is measured, in order."""

from loops import infer_group, large_groups, mixed_group, shared_group, small_group, tensor_group, transfer_groups
from overload import overload_group, recovery_group


def all_groups(sizes, large):
    groups = [small_group(sizes), infer_group(sizes), tensor_group(sizes), shared_group(sizes), *transfer_groups(sizes), mixed_group(sizes),
              overload_group(sizes), recovery_group(sizes)]
    return groups + (list(large_groups()) if large else [])
