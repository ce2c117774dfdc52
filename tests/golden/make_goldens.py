#!/usr/bin/env python3
"""Makes the goldens: what PyTorch's CPU answers to calls of every operator, over shapes, dtypes and attributes.

Usage: make_goldens.py [FOLDER]     (needs PyTorch 1.13.1, Debian's python3-torch; the results are committed)
       golden_calls OPERATOR... | make_goldens.py --calls [FOLDER]     (PyTorch 2.15.0, from PyPI)

The first makes those of L1Loss, SmoothL1Loss, GroupNorm and CtcLoss. The second asks for the answers to calls of any other
operators, by the function of PyTorch's that each one's test names (tests/support/operator_test.h), or by COMPOSED
where PyTorch has no single one.

One JSON file an operator: a list of calls with inputs, attributes and outputs. Tensors are {dtype, shape, hex}, little-endian
row-major bytes. Cases in which PyTorch differs from opserve's contract, or has no kernel, are left out; inputs are expanded
before PyTorch sees them where its mean would count otherwise.
"""

import functools
import itertools
import json
import pathlib
import sys

import torch
import torch.nn.functional as F

NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64",
         torch.int64: "i64", torch.int32: "i32"}
DTYPES = {name: dtype for dtype, name in NAMES.items()}
REDUCTIONS = ["none", "mean", "sum"]


def tensor(value):
    value = value.detach().contiguous()
    raw = value.view(torch.int16) if value.dtype in (torch.bfloat16, torch.float16) else value
    return {"dtype": NAMES[value.dtype], "shape": list(value.shape), "hex": raw.numpy().tobytes().hex()}


def call(inputs, attributes, outputs):
    return {"inputs": {name: tensor(value) for name, value in inputs.items() if value is not None},
            "attributes": attributes,
            "outputs": {name: tensor(value) for name, value in outputs.items()}}


def loss_inputs(dtype, shapes, grad_shape):
    self, target = (torch.randn(shape).to(dtype) for shape in shapes)
    return self, target, torch.randn(grad_shape).to(dtype)


def losses():
    """Calls of the four loss operators."""
    calls = {name: [] for name in ("L1Loss", "L1LossBackward", "SmoothL1Loss", "SmoothL1LossBackward")}
    shapes = [([4, 2], [4, 2]), ([33], [33]), ([3, 1, 5], [4, 1]), ([], []), ([2, 3, 4, 5], [5])]
    for (a, b), dtype, reduction in itertools.product(shapes, (torch.float32, torch.bfloat16), range(3)):
        out_shape = torch.broadcast_shapes(a, b)
        self, target, grad = loss_inputs(dtype, (a, b), out_shape if reduction == 0 else [])
        wide, other = (x.expand(out_shape).clone().requires_grad_() for x in (self, target))
        # Sums of bfloat16 are not PyTorch's best: ask in float and round once.
        def forward(function, **options):
            exact = function(wide.float(), other.float(), reduction=REDUCTIONS[reduction], **options)
            return exact.detach().to(dtype)

        operands = {"self": self, "target": target}
        calls["L1Loss"].append(call(operands, {"reduction": reduction}, {"out": forward(F.l1_loss)}))
        F.l1_loss(wide.float(), other.float(), reduction=REDUCTIONS[reduction]).backward(grad.float())
        calls["L1LossBackward"].append(call({"grad_output": grad, **operands}, {"reduction": reduction},
                                            {"grad_input": wide.grad}))
        for beta in (0.3, 1.0, 2.5):
            attributes = {"reduction": reduction, "beta": beta}
            calls["SmoothL1Loss"].append(call(operands, attributes, {"result": forward(F.smooth_l1_loss, beta=beta)}))
            exact = torch.ops.aten.smooth_l1_loss_backward(grad.float(), wide.detach().float(), other.detach().float(),
                                                           reduction, beta)
            calls["SmoothL1LossBackward"].append(call({"grad_out": grad, **operands}, attributes,
                                                      {"grad_input": exact.to(dtype)}))
    return calls


def value_of(golden):
    dtype = next(dtype for dtype, name in NAMES.items() if name == golden["dtype"])
    if not golden["hex"]:
        return torch.zeros(golden["shape"], dtype=dtype)
    raw = torch.frombuffer(bytearray.fromhex(golden["hex"]), dtype=torch.uint8)
    return raw.view(dtype).reshape(golden["shape"])


def gradient(function, grad_output, self):
    self = self.clone().requires_grad_()
    function(self).backward(grad_output)
    return self.grad


def swish(self, beta):
    return self * torch.sigmoid(beta * self)


def buffer_of(self):
    return torch.exp(-self.abs())


REDUCED = ["none", "mean", "sum", "batchmean"]


def loss_gradient(loss, grad_output, variable, reduction, *others, **options):
    """With respect to `variable`, of a loss that is reduced. Any gradient may come in, as opserve and most of PyTorch take it."""
    incoming = grad_output / variable.numel() if REDUCED[reduction] == "mean" else grad_output
    return gradient(lambda x: loss(x, *others, reduction="none", **options), incoming, variable)


def logits_gradient(of_target):
    def answer(grad_output, self, target, weight, pos_weight, reduction):
        def loss(x, other, **options):
            logits, truth = (other, x) if of_target else (x, other)
            return F.binary_cross_entropy_with_logits(logits, truth, weight, pos_weight=pos_weight, **options)

        variable, other = (target, self) if of_target else (self, target)
        return loss_gradient(loss, grad_output, variable, reduction, other)

    return answer


def cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing):
    return F.cross_entropy(self, target, weight, ignore_index=ignore_index, reduction=REDUCTIONS[reduction],
                           label_smoothing=label_smoothing)


def cross_entropy_loss(self, lse_square_scale_for_zloss, return_zloss, **arguments):
    none = torch.zeros(0)
    return cross_entropy(self, **arguments), F.log_softmax(self, 1), none, none


def cross_entropy_grad(grad_loss, log_prob, grad_zloss, lse_for_zloss, lse_square_scale_for_zloss, **arguments):
    # Probabilities are those of their logarithms.
    return gradient(lambda x: cross_entropy(x, **arguments), grad_loss, log_prob)


def rms_norm(x, gamma, epsilon):
    rstd = torch.rsqrt(x.square().mean(tuple(range(-gamma.dim(), 0)), keepdim=True) + epsilon)
    return F.rms_norm(x, gamma.shape, gamma, epsilon), rstd


def rms_norm_gradients(dy, x, rstd, gamma):
    """Of the default epsilon, with which the rstd of golden calls is made."""
    x, gamma = x.clone().requires_grad_(), gamma.clone().requires_grad_()
    F.rms_norm(x, gamma.shape, gamma, 1e-6).backward(dy)
    return x.grad, gamma.grad


def avg_pool(values):
    """Arguments of avg_pool2d behind the tensors."""
    return (values["kernel_size"], values["stride"], values["padding"], values["ceil_mode"], values["count_include_pad"],
            values["divisor_override"] or None)


def geglu(self, dim, approximate):
    a, b = self.chunk(2, dim)
    gelu = F.gelu(b, approximate=["none", "tanh"][approximate])
    return a * gelu, gelu


def geglu_gradient(grad_output, self, gelu, dim, approximate):
    of_gate = gradient(lambda x: geglu(x, dim, approximate)[0], grad_output, self)
    # That of the first half is by gelu as it is given.
    return torch.cat((grad_output * gelu, of_gate.chunk(2, dim)[1]), dim)


def swiglu(x, dim):
    a, b = x.chunk(2, dim)
    return F.silu(a) * b


def prelu_gradients(grad_output, self, weight):
    self, weight = self.clone().requires_grad_(), weight.clone().requires_grad_()
    return torch.autograd.grad(F.prelu(self, weight), (self, weight), grad_output)


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    mean, var = running_mean.clone(), running_var.clone()
    out, save_mean, save_invstd = torch.ops.aten.native_batch_norm(input, weight, bias, mean, var, training, momentum, eps)
    if training:
        return out, save_mean, save_invstd, mean, var
    # PyTorch keeps nothing; opserve says what it used.
    return out, running_mean, torch.rsqrt(running_var + eps), torch.empty(0), torch.empty(0)


COMPOSED = {
    "CrossEntropyLoss": cross_entropy_loss,
    "CrossEntropyLossGrad": cross_entropy_grad,
    "BatchNorm": batch_norm,
    "RmsNorm": rms_norm,
    "RmsNormGrad": rms_norm_gradients,
    "AvgPool2d": lambda self, **values: torch.ops.aten.avg_pool2d(self, *avg_pool(values)),
    "AvgPool2dBackward": lambda grad_output, self, **values: torch.ops.aten.avg_pool2d_backward(
        grad_output, self, *avg_pool(values)),
    "GeGlu": geglu,
    "GeGluBackward": geglu_gradient,
    "SwiGlu": swiglu,
    "SwiGluGrad": lambda y_grad, x, dim: gradient(lambda x: swiglu(x, dim), y_grad, x),
    "PreluBackward": prelu_gradients,
    # Calls are to the dtype of their input.
    "Cast": lambda self, dtype: self,
    "UpsampleNearest2dBackward": lambda grad_out, output_size, input_size, scales_h, scales_w: (
        torch.ops.aten.upsample_nearest2d_backward(grad_out, output_size, input_size, scales_h or None, scales_w or None)),
    "UpsampleBilinear2d": lambda self, output_size, align_corners, scales_h, scales_w: torch.ops.aten.upsample_bilinear2d(
        self, output_size, align_corners, scales_h or None, scales_w or None),
    "UpsampleBilinear2dBackward": lambda grad_out, output_size, input_size, align_corners, scales_h, scales_w: (
        torch.ops.aten.upsample_bilinear2d_backward(grad_out, output_size, input_size, align_corners, scales_h or None,
                                                    scales_w or None)),
    "KlDivBackward": lambda grad_output, self, target, reduction, log_target: loss_gradient(
        F.kl_div, grad_output, self, reduction, target, log_target=log_target),
    "BinaryCrossEntropyWithLogitsBackward": logits_gradient(of_target=False),
    "BinaryCrossEntropyWithLogitsTargetBackward": logits_gradient(of_target=True),
    "Swish": swish,
    "SwishBackward": lambda grad_output, self, beta: gradient(lambda x: swish(x, beta), grad_output, self),
    # The derivative where the forward's result is what is given.
    "SeluBackward": lambda grad_output, result: torch.ops.aten.elu_backward(
        grad_output, 1.6732632423543772, 1.0507009873554805, 1, True, result),
    "LogSigmoidForward": lambda self: (F.logsigmoid(self), buffer_of(self)),
    "LogSigmoidBackward": lambda grad_output, self, buffer=None: torch.ops.aten.log_sigmoid_backward(
        grad_output, self, buffer_of(self)),
}


def answers(name, aten, values):
    """What PyTorch gives for an operator's inputs and attributes, as a tuple."""
    if aten:
        function, _, names = aten.rstrip(")").partition("(")
        words = [word.rpartition("=") for word in names.split(", ")]
        values = {**values, "False": False, "dtype": torch.float32}
        # "add.Tensor" is one of the functions called "add".
        of_aten = functools.reduce(getattr, function.split("."), torch.ops.aten)
        answer = of_aten(*(values.get(name) for key, _, name in words if not key),
                         **{key: values[name] for key, _, name in words if key})
    else:
        answer = COMPOSED[name](**values)
    return answer if isinstance(answer, tuple) else (answer,)


def recorded(name, operator):
    """Calls of golden_calls with PyTorch's answers, computed in float and rounded once."""
    for row in operator["calls"]:
        inputs = {name: value_of(golden) for name, golden in row["inputs"].items()}
        values = {**{name: None for name in operator["inputs"]},
                  **{name: value.float() if value.is_floating_point() else value.long() for name, value in inputs.items()},
                  **row["attributes"]}
        dtypes = row.pop("dtypes")
        outputs = zip(operator["outputs"], answers(name, operator["aten"], values))
        yield {**row, "outputs": {output: tensor(answer.to(DTYPES[dtypes[output]])) for output, answer in outputs}}


def group_norm():
    calls = {"GroupNorm": [], "GroupNormBackward": []}
    for (n, c, hw, group), affine in itertools.product(((2, 6, 5, 3), (1, 4, 9, 1), (3, 4, 1, 2), (2, 8, 4, 8)), (True, False)):
        x, dy = torch.randn(n, c, hw) * 2 + 1, torch.randn(n, c, hw)
        gamma, beta = (torch.randn(c), torch.randn(c)) if affine else (None, None)
        sizes = {"N": n, "C": c, "HxW": hw, "group": group}
        out, mean, rstd = torch.ops.aten.native_group_norm(x, gamma, beta, n, c, hw, group, 1e-5)
        calls["GroupNorm"].append(call({"self": x, "gamma": gamma, "beta": beta}, {**sizes, "eps": 1e-5},
                                       {"out": out, "mean": mean, "rstd": rstd}))
        # PyTorch has no backward without gamma; ones are the same.
        weight = gamma if affine else torch.ones(c)
        grads = torch.ops.aten.native_group_norm_backward(dy, x, mean, rstd, weight, n, c, hw, group, [True] * 3)
        calls["GroupNormBackward"].append(call(
            {"grad_out": dy, "input": x, "mean": mean, "rstd": rstd, "gamma": gamma},
            {**sizes, "output_mask": [True] * 3}, dict(zip(("grad_input", "grad_gamma", "grad_beta"), grads))))
    return calls


def ctc_loss():
    calls = {"CtcLoss": [], "CtcLossBackward": []}
    problems = [(12, 5, [12, 12], [3, 2]), (9, 4, [9, 4, 7], [4, 1, 2]), (6, 3, [2, 6], [3, 2]), (5, 6, [5], [0])]
    for (steps, classes, lengths, counts), dtype, label, padded, zero in itertools.product(
            problems, (torch.float32, torch.float64), (torch.int64, torch.int32), (True, False), (True, False)):
        n = len(lengths)
        log_probs = torch.randn(steps, n, classes, dtype=dtype).log_softmax(2)
        targets = torch.randint(1, classes, (n, max(counts)) if padded else (sum(counts),), dtype=label)
        loss, alpha = torch.ops.aten._ctc_loss(log_probs, targets, lengths, counts, 0, zero)
        # PyTorch leaves alpha as it was beyond a sample's states and steps; the contract says -inf.
        for b in range(n):
            alpha[b, lengths[b]:, :] = -torch.inf
            alpha[b, :, 2 * counts[b] + 1:] = -torch.inf
        attributes = {"input_lengths": lengths, "target_lengths": counts, "blank": 0, "zero_infinity": zero}
        calls["CtcLoss"].append(call({"log_probs": log_probs, "targets": targets}, attributes,
                                     {"neg_log_likelihood": loss, "log_alpha": alpha}))
        grad = torch.randn(n, dtype=dtype)
        answer = torch.ops.aten._ctc_loss_backward(grad, log_probs, targets, lengths, counts, loss, alpha, 0, zero)
        calls["CtcLossBackward"].append(call(
            {"grad_out": grad, "log_probs": log_probs, "targets": targets, "neg_log_likelihood": loss, "log_alpha": alpha},
            attributes, {"grad": answer}))
    return calls


def write(folder, name, rows):
    text = ",\n".join(json.dumps(row) for row in rows)
    (folder / f"{name}.json").write_text(f"[{text}]\n")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--calls"]
    folder = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent / "data")
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(20)
    torch.set_num_threads(1)
    if "--calls" in sys.argv:
        for name, operator in json.load(sys.stdin).items():
            write(folder, name, recorded(name, operator))
        return
    for calls in (losses(), group_norm(), ctc_loss()):
        for name, rows in calls.items():
            write(folder, name, rows)


if __name__ == "__main__":
    main()
