"""Proves that the layering check can fail: plants one bad line at a time, and good ones that must pass."""

import pathlib
import sys
import tempfile

import layering

# File, its #include, and the reason that must be given; None where the line is allowed.
CASES = [
    ("core/base/a.h", '"core/tensor/shape.h"', "core/base must not depend on core/tensor"),
    ("core/tensor/a.cc", '"core/op/operator.h"', "core/tensor must not depend on core/op"),
    ("core/tensor/a.cc", '<core/op/operator.h>', "core/tensor must not depend on core/op"),
    ("core/op/a.cc", '"core/ops/l1_loss.h"', "core/op must not depend on core/ops"),
    ("core/op/a.cc", '"core/device/device.h"', "core/op must not depend on core/device"),
    ("core/ops/a.cc", '"core/device/kernel.h"', "core/ops must not depend on core/device"),
    ("core/device/a.h", '"core/backends/cpu/a.h"', "core/device must not depend on core/backends/cpu"),
    ("core/backends/cpu/a.cc", '"core/batch/queue.h"', "core/backends/cpu must not depend on core/batch"),
    ("core/backends/cpu/a.cc", '"core/ops/l1_loss.h"', "core/backends/cpu must not depend on core/ops"),
    ("core/backends/cpu/x/a.cc", '"core/engine/engine.h"', "core/backends/cpu must not depend on core/engine"),
    ("core/backends/ascend/a.cc", '"core/backends/cpu/cpu_device.h"', "must not depend on core/backends/cpu"),
    ("core/backends/ascend/a.cc", '"client/acl/objects.h"', "core/backends/ascend must not depend on client/acl"),
    ("core/batch/a.cc", '"core/engine/engine.h"', "core/batch must not depend on core/engine"),
    ("core/engine/a.cc", '"server/config.h"', "core/engine must not depend on server"),
    ("core/engine/a.cc", '"core/ops/l1_loss.h"', "core/engine must not depend on core/ops"),
    ("server/a.cc", '"client/cpp/client.h"', "server must not depend on client/cpp"),
    ("server/services/a.cc", '"core/ops/l1_loss.h"', "server must not depend on core/ops"),
    ("client/cpp/a.cc", '"core/engine/engine.h"', "client/cpp must not depend on core/engine"),
    ("client/cli/a.cc", '"core/op/operator.h"', "client/cli must not depend on core/op"),
    ("client/acl/a.cc", '"client/cli/a.h"', "client/acl must not depend on client/cli"),
    ("core/engine/a.cc", '"tests/support/a.h"', "core/engine must not depend on this"),
    ("core/engine/a.cc", '"grpcpp/grpcpp.h"', "gRPC headers are not for this file"),
    ("core/engine/a.cc", "<grpc/slice.h>", "gRPC headers are not for this file"),
    ("core/tensor/a.cc", '"opserve/v1/types.pb.h"', "protobuf headers are not for this file"),
    ("core/base/a.cc", "<google/protobuf/message.h>", "protobuf headers are not for this file"),
    ("core/engine/a.cc", '"tbb/parallel_for.h"', "oneTBB headers are not for this file"),
    ("server/a.cc", "<oneapi/tbb.h>", "oneTBB headers are not for this file"),
    ("core/base/a.cc", '"clock.h"', "write the path from the repository's root"),
    ("core/base/a.cc", '"../tensor/shape.h"', "write the path from the repository's root"),
    ("core/utils/a.h", '"core/base/clock.h"', "this folder has no row"),
    ("client/rogue/a.h", '"core/base/clock.h"', "this folder has no row"),
    ("core/backends/cpu/l1_loss.cc", "<tbb/parallel_for.h>", None),
    ("core/backends/cpu/l1_loss.cc", '"core/device/kernel.h"', None),
    ("core/op/op_table.cc", '"core/op/builtin_ops.inc"', None),
    ("core/ops/l1_loss.cc", '"core/op/operator.h"', None),
    ("core/engine/engine.cc", '"core/backends/cpu/cpu_device.h"', None),
    ("server/services/a.cc", '"opserve/v1/operator_service.grpc.pb.h"', None),
    ("server/services/a.cc", '"core/engine/engine.h"', None),
    ("client/cpp/client.cc", '"opserve/v1/types.pb.h"', None),
    ("client/cpp/client.cc", "<grpcpp/grpcpp.h>", None),
    ("client/cli/main.cc", '"client/cpp/client.h"', None),
    ("client/acl/a.cc", '"core/engine/engine.h"', None),
    ("client/acl/samples/a.cc", '"sample.h"', None),
    ("client/acl/samples/a.cc", '"../sample.h"', "write the path from the repository's root"),
    ("core/base/a.cc", "<vector>", None),
    ("core/base/a.cc", '"absl/status/status.h"', None),
]


def found_in_planted_tree(path, include):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, path)
        file.parent.mkdir(parents=True)
        file.write_text(f"// A planted file.\n#  include {include}\n", encoding="utf-8")
        return layering.check_tree(pathlib.Path(folder))[0]


def is_as_wanted(path, found, reason):
    if reason is None:
        return not found
    line = 1 if "no row" in reason else 2
    return any(offence.startswith(f"{path}:{line}: ") and reason in offence for offence in found)


def main():
    failures = 0
    for path, include, reason in CASES:
        found = found_in_planted_tree(path, include)
        if not is_as_wanted(path, found, reason):
            failures += 1
            print(f"{path}: #include {include}: want {reason or 'no offence'}, got {found or 'none'}")
    print(f"{len(CASES)} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
