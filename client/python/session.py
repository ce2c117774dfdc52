"""A session on an opserve server: Python, from the .proto files alone. GroupNorm, then its gradient; CtcLoss, then its
gradient. What a forward call leaves for the backward one (mean, rstd; log_alpha) never leaves the device.

Usage: session.py [TARGET]     (default localhost:8500)

Needs what gradient.py needs. Copy Session: it works for any operator.
"""

import itertools
import queue
import sys
import threading

import grpc
import numpy as np

from opserve.v1 import session_pb2 as api
from opserve.v1 import session_pb2_grpc as api_grpc

from gradient import DTYPES, NUMPY_TYPES, UNLIMITED, array_of, attribute_of, error_info, explain


class CommandError(Exception):
    """A command failed; `reason` is the constant of docs/errors.md."""

    def __init__(self, command, error):
        info = error_info(error)
        super().__init__(f"command {command}: {info.reason}: {error.message}")
        self.command, self.reason = command, info.reason


class Session:
    """Commands go out as they are made; answers are read by a thread of their own and wait here for who asks.

    Ids are ours to choose, so nothing waits but result(): a command that went wrong says so there, and so does whatever
    used what it should have made.
    """

    def __init__(self, channel, timeout=None):
        self._requests = queue.SimpleQueue()
        self._ids = itertools.count(1)
        self._sending = threading.Lock()
        self._changed = threading.Condition()
        self._answers = {}  # id → answers so far, each with the bytes of its chunk
        self._ended = None  # the RPC's end: None, or why
        self._responses = api_grpc.SessionServiceStub(channel).Session(iter(self._requests.get, None), timeout=timeout)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.context, self.stream = 1, 1
        self.send(quiet=True, create_context=dict(context=self.context))
        self.send(quiet=True, create_stream=dict(stream=self.stream, context=self.context))

    def close(self):
        """Finishes what was sent, then frees everything on the server."""
        self._requests.put(None)
        self._reader.join()

    def send(self, raw=(), quiet=False, **command):
        """Sends a command, e.g. send(allocate=dict(...)); returns its id. A quiet one is answered only if it fails."""
        with self._sending:  # ids must go out in order
            message = api.Command(id=next(self._ids), quiet=quiet, **command)
            self._requests.put(api.SessionRequest(commands=[message], raw=raw))
            return message.id

    def result(self, command):
        """All answers to a command, each with the bytes of its chunk. Waits; raises CommandError."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over(command) or self._ended is not None)
            if not self._is_over(command):
                raise self._ended
            answers = self._answers.pop(command)
        last, _ = answers[-1]
        if last.HasField("error"):
            raise CommandError(last.failed_command or command, last.error)
        return answers

    def upload(self, array):
        """A new buffer with the array's bytes; returns what an executor takes as that tensor."""
        dtype = DTYPES[f"{array.dtype.kind}{array.dtype.itemsize}"]
        tensor = self.allocate(dtype, array.shape)
        destination = dict(buffer=tensor["buffer"]["buffer"])
        self.send(raw=[array.astype(NUMPY_TYPES[dtype], copy=False).tobytes()], quiet=True,
                  upload=dict(destination=destination, stream=self.stream, raw_index=0))
        return tensor

    def allocate(self, dtype, shape):
        """A new buffer with undefined contents for a tensor."""
        size = int(np.prod(shape, dtype=np.int64)) * NUMPY_TYPES[dtype].itemsize
        buffer = next(self._ids)  # any id that no buffer has
        self.send(quiet=True, allocate=dict(buffer=buffer, context=self.context, size_bytes=size))
        return dict(dtype=dtype, shape=shape, buffer=dict(buffer=buffer))

    def execute(self, operator, inputs, attributes, outputs):
        """Both phases. Inputs and outputs are tensors of upload() and allocate(), by name. An output that is missing comes
        back with the answer; returns the command's id for received()."""
        executor = next(self._ids)
        call = dict(op=operator, inputs=[dict(name=name, **tensor) for name, tensor in inputs.items()],
                    outputs=[dict(name=name, **tensor) for name, tensor in outputs.items()],
                    attributes=[attribute_of(name, value) for name, value in attributes.items()])
        self.result(self.send(create_executor=dict(executor=executor, context=self.context, call=call)))
        return self.send(run_executor=dict(executor=executor, stream=self.stream))

    def download(self, tensor):
        """A tensor's elements."""
        array = np.empty(tensor["shape"], NUMPY_TYPES[tensor["dtype"]])
        source = dict(buffer=tensor["buffer"]["buffer"], row_bytes=array.nbytes)
        answers = self.result(self.send(download=dict(source=source, stream=self.stream)))
        data = b"".join(chunk for _, chunk in answers)
        return np.frombuffer(data, array.dtype).reshape(array.shape)

    def received(self, command):
        """The bytes of the outputs that came back with an execution, by name."""
        chunks = {}
        for answer, chunk in self.result(command):
            if answer.HasField("chunk"):
                chunks.setdefault(answer.chunk.output, []).append(chunk)
        return {name: b"".join(parts) for name, parts in chunks.items()}

    def _is_over(self, command):
        return command in self._answers and not self._answers[command][-1][0].more

    def _read(self):
        try:
            for response in self._responses:
                with self._changed:
                    for answer in response.answers:
                        chunk = response.raw[answer.chunk.raw_index] if answer.HasField("chunk") else b""
                        self._answers.setdefault(answer.id, []).append((answer, chunk))
                    self._changed.notify_all()
            ended = ConnectionError("the session is closed")
        except grpc.RpcError as error:
            ended = error
        with self._changed:
            self._ended = ended
            self._changed.notify_all()


def group_norm(session):
    n, c, hxw, group = 1, 4, 2, 2
    sizes = dict(N=n, C=c, HxW=hxw, group=group)
    x = np.arange(n * c * hxw, dtype=np.float32).reshape(n, c, hxw)
    dy = np.array([1, 0, 0, 0, 0, 2, 0, 0], np.float32).reshape(x.shape)
    input, gamma, grad = session.upload(x), session.upload(np.ones(c, np.float32)), session.upload(dy)
    out, mean, rstd = (session.allocate(DTYPES["f4"], shape) for shape in (x.shape, (n, group), (n, group)))
    session.execute("GroupNorm", dict(self=input, gamma=gamma), dict(**sizes, eps=1e-5), dict(out=out, mean=mean, rstd=rstd))
    backward = session.execute("GroupNormBackward", dict(grad_out=grad, input=input, mean=mean, rstd=rstd, gamma=gamma),
                               dict(**sizes, output_mask=[True, True, True]), {})
    return {"out": session.download(out)} | session.received(backward)


def ctc_loss(session):
    steps, batch, classes = 3, 1, 3
    labels = dict(input_lengths=[steps], target_lengths=[1], blank=0, zero_infinity=False)
    log_probs = session.upload(np.full((steps, batch, classes), np.log(1 / classes), np.float32))
    targets, grad = session.upload(np.array([[2]], np.int64)), session.upload(np.ones(batch, np.float32))
    loss = session.allocate(DTYPES["f4"], (batch,))
    log_alpha = session.allocate(DTYPES["f4"], (batch, steps, 2 * 1 + 1))
    session.execute("CtcLoss", dict(log_probs=log_probs, targets=targets), labels,
                    dict(neg_log_likelihood=loss, log_alpha=log_alpha))
    backward = session.execute("CtcLossBackward", dict(grad_out=grad, log_probs=log_probs, targets=targets,
                                                       neg_log_likelihood=loss, log_alpha=log_alpha), labels, {})
    return {"neg_log_likelihood": session.download(loss)} | session.received(backward)


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:8500"
    with grpc.insecure_channel(target, UNLIMITED) as channel:
        session = Session(channel, timeout=30)
        try:
            for name, data in (group_norm(session) | ctc_loss(session)).items():
                print(name, *(f"{element:.3f}" for element in np.frombuffer(data, np.float32)))
            session.close()
        except CommandError as error:
            sys.exit(str(error))
        except grpc.RpcError as error:
            sys.exit(explain(error))


if __name__ == "__main__":
    main()
