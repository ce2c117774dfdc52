package dev.opserve;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** The tensors of a message that is being made: each has an entry of {@code raw}; one that comes twice is sent once. */
final class Sent {
  private final List<Elements> raw = new ArrayList<>();
  private final Map<Elements, Integer> indices = new IdentityHashMap<>();

  List<Elements> raw() {
    return raw;
  }

  /** A call's message, for execution. IllegalArgumentException for an input or output that cannot be sent. */
  dev.opserve.v1.Call call(Call call) {
    dev.opserve.v1.Call.Builder message = call.toProto();
    call.inputs().forEach((name, input) -> {
      if (!(input instanceof Tensor) && !(input instanceof TensorView)) {
        throw new IllegalArgumentException(call.op() + ": " + name + ": want a Tensor or a TensorView, got a " + kindOf(input));
      }
      message.addInputs(described(name, input).setRawIndex(indexOf(input)));
    });
    call.outputs().forEach((name, output) -> {
      if (!(output instanceof Tensor)) {
        throw new IllegalArgumentException(call.op() + ": " + name + ": want a Tensor, got a " + kindOf(output));
      }
    });
    addOutputs(call, message);
    return message.build();
  }

  /** What GetWorkspaceSize is asked: inputs without their data. */
  static dev.opserve.v1.Call described(Call call) {
    dev.opserve.v1.Call.Builder message = call.toProto();
    call.inputs().forEach((name, input) -> {
      if (input instanceof Value) {
        throw new IllegalArgumentException(call.op() + ": " + name + ": want a tensor or a TensorSpec, got a " + kindOf(input));
      }
      message.addInputs(described(name, input));
    });
    addOutputs(call, message);
    return message.build();
  }

  private static void addOutputs(Call call, dev.opserve.v1.Call.Builder message) {
    call.outputTypes().forEach((name, dtype) -> message.addOutputs(
        dev.opserve.v1.Tensor.newBuilder().setName(name).setDtype(dtype.toProto())));
    call.outputs().forEach((name, output) -> message.addOutputs(
        described(name, output).setScalar(output.shape().length == 0)));
  }

  private int indexOf(Input input) {
    Elements elements = (input instanceof TensorView view ? view.tensor() : (Tensor) input).elements();
    return indices.computeIfAbsent(elements, added -> {
      raw.add(added);
      return raw.size() - 1;
    });
  }

  static String kindOf(Input input) {
    String kind = input.getClass().getSimpleName();
    if (input instanceof Value) {
      return kind + ", which only steps of a program take";
    }
    return input instanceof DeviceTensor ? kind + ", which only a session runs on" : kind;
  }

  /** A tensor without where its data is. */
  static dev.opserve.v1.Tensor.Builder described(String name, Input input) {
    var message = dev.opserve.v1.Tensor.newBuilder().setName(name).setDtype(input.dtype().toProto());
    for (long extent : input.shape()) {
      message.addShape(extent);
    }
    if (input instanceof TensorView view) {
      for (long stride : view.strides()) {
        message.addStrides(stride);
      }
      message.setStorageOffset(view.offset());
    }
    return message;
  }
}
