from . import status_pb2 as _status_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AllocateRegionCommand(_message.Message):
    __slots__ = ["size_bytes"]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    size_bytes: int
    def __init__(self, size_bytes: _Optional[int] = ...) -> None: ...

class ReleaseRegionCommand(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: bytes
    def __init__(self, id: _Optional[bytes] = ...) -> None: ...

class ReleasedRegion(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class SharedMemoryRequest(_message.Message):
    __slots__ = ["allocate", "release"]
    ALLOCATE_FIELD_NUMBER: _ClassVar[int]
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    allocate: AllocateRegionCommand
    release: ReleaseRegionCommand
    def __init__(self, allocate: _Optional[_Union[AllocateRegionCommand, _Mapping]] = ..., release: _Optional[_Union[ReleaseRegionCommand, _Mapping]] = ...) -> None: ...

class SharedMemoryResponse(_message.Message):
    __slots__ = ["error", "region", "released"]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    error: _status_pb2.Status
    region: SharedRegion
    released: ReleasedRegion
    def __init__(self, error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ..., region: _Optional[_Union[SharedRegion, _Mapping]] = ..., released: _Optional[_Union[ReleasedRegion, _Mapping]] = ...) -> None: ...

class SharedRegion(_message.Message):
    __slots__ = ["id", "size_bytes"]
    ID_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    id: bytes
    size_bytes: int
    def __init__(self, id: _Optional[bytes] = ..., size_bytes: _Optional[int] = ...) -> None: ...
