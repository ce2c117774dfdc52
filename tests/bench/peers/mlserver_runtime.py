"""MLServer's runtime for the job of peers.py."""

import peers
import torch
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse


class Gradient(MLModel):
    async def predict(self, payload):
        tensors = [torch.from_numpy(NumpyCodec.decode_input(each).reshape(-1).copy()) for each in payload.inputs]
        output = NumpyCodec.encode_output("grad_input", peers.gradient(*tensors).numpy())
        return InferenceResponse(model_name=self.name, outputs=[output])
