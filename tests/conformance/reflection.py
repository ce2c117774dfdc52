"""The messages of a server that this program knows nothing of but its address: gRPC's reflection, as grpcurl uses it."""

from google.protobuf import descriptor_pb2
from google.protobuf import descriptor_pool
from google.protobuf import message_factory

import reflection_pb2 as reflection
import reflection_pb2_grpc as reflection_grpc


class ReflectedServer:
    def __init__(self, channel):
        self._channel = channel
        self._stub = reflection_grpc.ServerReflectionStub(channel)
        self._pool = descriptor_pool.DescriptorPool()

    def _ask(self, timeout=20, **question):
        request = reflection.ServerReflectionRequest(**question)
        return next(iter(self._stub.ServerReflectionInfo(iter([request]), timeout=timeout)))

    def services(self):
        return [service.name for service in self._ask(list_services="").list_services_response.service]

    def method(self, service, name):
        """A unary method: its request's class, and a function from a request to the response."""
        answer = self._ask(file_containing_symbol=service)
        files = map(descriptor_pb2.FileDescriptorProto.FromString, answer.file_descriptor_response.file_descriptor_proto)
        self._add(service, {file.name: file for file in files})
        method = self._pool.FindServiceByName(service).methods_by_name[name]
        factory = message_factory.MessageFactory(self._pool)
        request, response = map(factory.GetPrototype, (method.input_type, method.output_type))
        return request, self._channel.unary_unary(f"/{service}/{name}", request.SerializeToString, response.FromString)

    def _add(self, service, files):
        """Puts the files into the pool, imported ones first."""
        added = set()

        def add(file):
            if file.name in added:
                return
            added.add(file.name)
            for imported in file.dependency:
                add(files[imported])
            self._pool.Add(file)

        for file in files.values():
            add(file)
