"""The descriptor pool of the package's messages, with what they use of protobuf's own."""

from google.protobuf import any_pb2, descriptor_pool, duration_pb2
from google.protobuf.internal import builder

POOL = descriptor_pool.DescriptorPool()
WELL_KNOWN: dict = {}  # keeps their classes, which some of protobuf's implementations look up
for _file in (any_pb2.DESCRIPTOR, duration_pb2.DESCRIPTOR):
    _descriptor = POOL.AddSerializedFile(_file.serialized_pb)
    builder.BuildMessageAndEnumDescriptors(_descriptor, WELL_KNOWN)
    builder.BuildTopDescriptorsAndMessages(_descriptor, __name__, WELL_KNOWN)
