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
    ("core/aclnn/a.cc", '"core/device/device.h"', "core/aclnn must not depend on core/device"),
    ("core/device/a.h", '"core/backends/cpu/a.h"', "core/device must not depend on core/backends/cpu"),
    ("core/backends/cpu/a.cc", '"core/batch/queue.h"', "core/backends/cpu must not depend on core/batch"),
    ("core/backends/cpu/a.cc", '"core/ops/l1_loss.h"', "core/backends/cpu must not depend on core/ops"),
    ("core/backends/cpu/x/a.cc", '"core/engine/engine.h"', "core/backends/cpu must not depend on core/engine"),
    ("core/backends/ascend/a.cc", '"core/backends/cpu/cpu_device.h"', "must not depend on core/backends/cpu"),
    ("core/backends/ascend/a.cc", '"client/acl/objects/objects.h"', "core/backends/ascend must not depend on client/acl"),
    ("core/batch/a.cc", '"core/engine/engine.h"', "core/batch must not depend on core/engine"),
    ("core/engine/a.cc", '"server/server.h"', "core/engine must not depend on server"),
    ("core/engine/a.cc", '"core/backends/cpu/cpu_device.h"', "core/engine must not depend on core/backends/cpu"),
    ("server/session/a.cc", '"core/batch/joined_call.h"', "server/session must not depend on core/batch"),
    ("core/engine/a.cc", '"core/ops/l1_loss.h"', "core/engine must not depend on core/ops"),
    ("core/engine/plan/a.cc", '"core/engine/run/staging.h"', "core/engine/plan must not depend on core/engine/run"),
    ("core/engine/load/a.cc", '"core/engine/plan/plan.h"', "core/engine/load must not depend on core/engine/plan"),
    ("core/engine/run/a.cc", '"core/engine/engine.h"', "core/engine/run must not depend on core/engine"),
    ("server/a.cc", "<opserve/client.h>", "server must not depend on client/cpp/include"),
    ("server/a.cc", '"server/session/session.h"', "server must not depend on server/session"),
    ("server/a.cc", '"opserve/v1/types.pb.h"', "server must not depend on proto"),
    ("server/log/a.cc", '"server/flags/config.h"', "server/log must not depend on server/flags"),
    ("server/counters/a.cc", '"server/log/log.h"', "server/counters must not depend on server/log"),
    ("server/connections/a.h", '"server/watchdog.h"', "server/connections must not depend on server"),
    ("server/connections/a.h", '"server/counters/a.h"', "server/connections must not depend on server/counters"),
    ("server/codec/a.cc", '"server/calls/result_form.h"', "server/codec must not depend on server/calls"),
    ("server/codec/a.cc", '"server/shared_memory/a.h"', "server/codec must not depend on server/shared_memory"),
    ("server/codec/a.cc", '"core/ops/l1_loss.h"', "server/codec must not depend on core/ops"),
    ("server/shared_memory/a.cc", '"server/calls/a.h"', "server/shared_memory must not depend on server/calls"),
    ("server/shared_memory/a.cc", '"core/engine/engine.h"', "server/shared_memory must not depend on core/engine"),
    ("server/calls/a.cc", '"server/session/session.h"', "server/calls must not depend on server/session"),
    ("server/calls/a.cc", '"server/transport/messages/a.h"', "server/calls must not depend on server/transport/messages"),
    ("server/session/a.cc", '"server/transport/messages/a.h"', "server/session must not depend on server/transport/messages"),
    ("server/session/a.cc", '"server/connections/a.h"', "server/session must not depend on server/connections"),
    ("server/transport/messages/a.cc", '"server/transport/unary/a.h"', "must not depend on server/transport/unary"),
    ("server/transport/messages/a.cc", '"core/engine/engine.h"', "must not depend on core/engine"),
    ("server/transport/unary/a.cc", '"server/transport/services/a.h"', "must not depend on server/transport/services"),
    ("server/transport/unary/a.cc", '"server/log/log.h"', "server/transport/unary must not depend on server/log"),
    ("server/transport/services/a.cc", '"server/flags/config.h"', "must not depend on server/flags"),
    ("server/transport/services/a.cc", '"server/server.h"', "server/transport/services must not depend on server"),
    ("server/transport/services/a.cc", '"core/ops/l1_loss.h"', "must not depend on core/ops"),
    ("server/transport/process/a.cc", '"server/transport/unary/a.h"', "must not depend on server/transport/unary"),
    ("server/transport/process/a.cc", '"server/server.h"', "server/transport/process must not depend on server"),
    ("server/flags/a.cc", '"server/transport/unary/a.h"', "server/flags must not depend on server/transport/unary"),
    ("server/watchdog.cc", "<grpc/grpc.h>", "gRPC headers are not for this file"),
    ("client/cpp/a.cc", '"core/engine/engine.h"', "client/cpp must not depend on core/engine"),
    ("client/cpp/a.cc", '"client/cpp/session/a.h"', "client/cpp must not depend on client/cpp/session"),
    ("client/cpp/a.cc", '"opserve/client.h"', "write a public header as programs do"),
    ("client/cpp/a.cc", '"client/cpp/include/opserve/client.h"', "write a public header as programs do"),
    ("client/cpp/include/opserve/a.h", '"client/cpp/values/a.h"', "must not depend on client/cpp/values"),
    ("client/cpp/include/opserve/a.h", '"opserve/v1/types.pb.h"', "protobuf headers are not for this file"),
    ("client/cpp/example/a.cc", '"client/cpp/values/a.h"', "client/cpp/example must not depend on client/cpp/values"),
    ("client/cpp/values/a.cc", '"client/cpp/wire/a.h"', "client/cpp/values must not depend on client/cpp/wire"),
    ("client/cpp/wire/a.cc", '"client/cpp/transport/a.h"', "client/cpp/wire must not depend on client/cpp/transport"),
    ("client/cpp/wire/a.cc", '"client/cpp/session/a.h"', "client/cpp/wire must not depend on client/cpp/session"),
    ("client/cpp/transport/a.h", '"client/cpp/session/a.h"', "must not depend on client/cpp/session"),
    ("client/cpp/transport/a.h", '"opserve/v1/types.pb.h"', "client/cpp/transport must not depend on proto"),
    ("client/cpp/session/a.cc", '"client/cpp/client.h"', "client/cpp/session must not depend on client/cpp"),
    ("client/cli/main.cc", '"core/op/operator.h"', "client/cli must not depend on core/op"),
    ("client/cli/commands/a.cc", '"client/cpp/wire/a.h"', "client/cli/commands must not depend on client/cpp/wire"),
    ("client/cli/output/a.cc", '"client/cli/files/a.h"', "client/cli/output must not depend on client/cli/files"),
    ("client/cli/files/a.cc", '"client/cli/commands/a.h"', "client/cli/files must not depend on client/cli/commands"),
    ("client/cli/formats/a.h", "<opserve/schema.h>", "client/cli/formats must not depend on client/cpp/include"),
    ("client/loadtest/figures/a.cc", '"client/loadtest/load/a.h"', "must not depend on client/loadtest/load"),
    ("client/loadtest/load/a.cc", '"client/loadtest/transport/a.h"', "must not depend on client/loadtest/transport"),
    ("client/loadtest/load/a.cc", "<opserve/client.h>", "client/loadtest/load must not depend on client/cpp/include"),
    ("client/loadtest/calls/a.cc", "<grpcpp/grpcpp.h>", "gRPC headers are not for this file"),
    ("client/loadtest/calls/a.cc", '"client/cli/formats/a.h"', "must not depend on client/cli/formats"),
    ("client/loadtest/report/a.cc", '"opserve/v1/types.pb.h"', "protobuf headers are not for this file"),
    ("client/cpp/a.cc", '"client/loadtest/load/a.h"', "client/cpp must not depend on client/loadtest/load"),
    ("client/acl/abi/a.cc", '"client/acl/remote/a.h"', "client/acl/abi must not depend on client/acl/remote"),
    ("client/acl/abi/a.cc", '"client/cli/output/a.h"', "client/acl/abi must not depend on client/cli/output"),
    ("client/acl/objects/a.cc", '"client/acl/abi/a.h"', "client/acl/objects must not depend on client/acl/abi"),
    ("client/acl/objects/a.cc", '"client/acl/local/a.h"', "client/acl/objects must not depend on client/acl/local"),
    ("client/acl/objects/a.cc", '"core/engine/engine.h"', "client/acl/objects must not depend on core/engine"),
    ("client/acl/local/a.cc", '"client/acl/objects/a.h"', "client/acl/local must not depend on client/acl/objects"),
    ("client/acl/local/a.cc", '"acl/acl.h"', "client/acl/local must not depend on client/acl/include"),
    ("client/acl/remote/a.cc", '"client/acl/objects/a.h"', "client/acl/remote must not depend on client/acl/objects"),
    ("client/acl/remote/a.cc", '"client/cpp/session/a.h"', "client/acl/remote must not depend on client/cpp/session"),
    ("client/acl/remote/a.cc", '"core/engine/engine.h"', "client/acl/remote must not depend on core/engine"),
    ("client/acl/provider/a.h", '"client/acl/objects/a.h"', "must not depend on client/acl/objects"),
    ("client/acl/include/acl/a.h", '"client/acl/objects/a.h"', "must not depend on client/acl/objects"),
    ("core/backends/ascend/a.cc", '"acl/acl.h"', "core/backends/ascend must not depend on client/acl/include"),
    ("core/engine/a.cc", '"tests/support/a.h"', "core/engine must not depend on this"),
    ("core/engine/a.cc", '"grpcpp/grpcpp.h"', "gRPC headers are not for this file"),
    ("core/engine/a.cc", "<grpc/slice.h>", "gRPC headers are not for this file"),
    ("client/cpp/wire/a.h", "<grpcpp/support/byte_buffer.h>", "gRPC headers are not for this file"),
    ("client/cpp/session/a.h", '"opserve/v1/session.grpc.pb.h"', "gRPC headers are not for this file"),
    ("client/cpp/client.cc", "<grpcpp/grpcpp.h>", "gRPC headers are not for this file"),
    ("client/cpp/client.cc", '"opserve/v1/types.pb.h"', "protobuf headers are not for this file"),
    ("server/codec/a.h", "<grpcpp/support/byte_buffer.h>", "gRPC headers are not for this file"),
    ("server/calls/a.h", "<grpcpp/support/byte_buffer.h>", "gRPC headers are not for this file"),
    ("server/session/a.cc", '"opserve/v1/session.grpc.pb.h"', "gRPC headers are not for this file"),
    ("server/shared_memory/a.cc", "<grpc/grpc.h>", "gRPC headers are not for this file"),
    ("server/connections/a.cc", "<grpc/grpc.h>", "gRPC headers are not for this file"),
    ("server/counters/a.cc", "<grpc/grpc.h>", "gRPC headers are not for this file"),
    ("server/flags/config.cc", "<grpc/grpc.h>", "gRPC headers are not for this file"),
    ("server/log/log.cc", "<grpc/support/log.h>", "gRPC headers are not for this file"),
    ("server/main.cc", "<grpcpp/grpcpp.h>", "gRPC headers are not for this file"),
    ("server/connections/a.cc", "<google/protobuf/message.h>", "protobuf headers are not for this file"),
    ("server/flags/config.cc", '"opserve/v1/types.pb.h"', "protobuf headers are not for this file"),
    ("core/tensor/a.cc", '"opserve/v1/types.pb.h"', "protobuf headers are not for this file"),
    ("core/base/a.cc", "<google/protobuf/message.h>", "protobuf headers are not for this file"),
    ("core/engine/a.cc", '"tbb/parallel_for.h"', "oneTBB headers are not for this file"),
    ("core/backends/cpu/l1_loss.cc", "<tbb/parallel_for.h>", "oneTBB headers are not for this file"),
    ("core/workers/worker_pool.cc", "<oneapi/tbb.h>", "oneTBB headers are not for this file"),
    ("core/workers/a.cc", '"core/tensor/shape.h"', "core/workers must not depend on core/tensor"),
    ("server/a.cc", "<oneapi/tbb.h>", "oneTBB headers are not for this file"),
    ("core/base/a.cc", '"clock.h"', "write the path from the repository's root"),
    ("core/base/a.cc", '"../tensor/shape.h"', "write the path from the repository's root"),
    ("core/utils/a.h", '"core/base/clock.h"', "this folder has no row"),
    ("client/acl/a.cc", '"client/acl/objects/objects.h"', "this folder has no row"),
    ("client/rogue/a.h", '"core/base/clock.h"', "this folder has no row"),
    ("core/workers/thread_arena.cc", "<oneapi/tbb/task_arena.h>", None),
    ("core/backends/cpu/l1_loss.cc", '"core/device/kernel.h"', None),
    ("core/op/op_table.cc", '"core/op/builtin_ops.inc"', None),
    ("core/ops/l1_loss.cc", '"core/op/operator.h"', None),
    ("core/engine/engine.cc", '"core/backends/builtin_backends.inc"', None),
    ("server/transport/services/a.cc", '"opserve/v1/operator_service.grpc.pb.h"', None),
    ("server/transport/services/a.cc", '"server/session/session.h"', None),
    ("server/transport/unary/a.cc", '"server/transport/messages/a.h"', None),
    ("server/transport/process/a.cc", "<grpc/grpc.h>", None),
    ("server/calls/a.cc", '"server/codec/call_codec.h"', None),
    ("server/calls/a.cc", '"core/engine/engine.h"', None),
    ("server/server.cc", "<grpcpp/grpcpp.h>", None),
    ("server/main.cc", '"server/flags/config.h"', None),
    ("client/cpp/wire/a.cc", '"opserve/v1/types.pb.h"', None),
    ("client/cpp/session/a.cc", '"opserve/v1/session.pb.h"', None),
    ("client/cpp/transport/a.cc", "<grpcpp/grpcpp.h>", None),
    ("client/cpp/client.cc", "<opserve/client.h>", None),
    ("client/cli/commands/a.h", "<opserve/client.h>", None),
    ("client/cli/main.cc", '"client/cli/commands/commands.h"', None),
    ("client/acl/abi/a.cc", '"aclnn/acl_meta.h"', None),
    ("client/acl/local/a.cc", '"core/engine/engine.h"', None),
    ("client/acl/remote/a.cc", "<opserve/session.h>", None),
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
