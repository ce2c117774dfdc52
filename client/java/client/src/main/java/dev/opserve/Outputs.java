package dev.opserve;

import dev.opserve.v1.Execution;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The outputs of an answer, held against the bytes that came. */
final class Outputs {
  private Outputs() {}

  static Result resultOf(
      Call call, List<dev.opserve.v1.Tensor> outputs, Parts parts, Placement placement, Execution execution) {
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    for (dev.opserve.v1.Tensor output : outputs) {
      tensors.put(output.getName(), tensorOf(call, output, parts, placement));
    }
    return new Result(Collections.unmodifiableMap(tensors), execution);
  }

  private static Tensor tensorOf(Call call, dev.opserve.v1.Tensor output, Parts parts, Placement placement) {
    String what = "output " + output.getName();
    DataType dtype = DataType.fromProto(output.getDtypeValue(), what);
    long[] shape = shapeOf(output);
    ByteBuffer bytes = output.hasRawIndex() ? parts.entry(output.getRawIndex(), what) : ByteBuffer.allocate(0);
    long elements = Shapes.elementsOrNegative(shape);
    if (elements < 0 || elements > Integer.MAX_VALUE || elements * dtype.byteSize() != bytes.remaining()) {
      throw Errors.badAnswer(what + " of shape " + Arrays.toString(shape) + " has " + bytes.remaining() + " bytes");
    }
    if (!(call.outputs().get(output.getName()) instanceof Tensor into)) {
      return Tensor.answered(dtype, new Elements(bytes), shape);
    }
    if (into.dtype() != dtype || !Arrays.equals(into.extents(), shape)) {
      throw Errors.badAnswer(what + " is " + dtype + Arrays.toString(shape) + ", want " + into);
    }
    if (!placement.filled(bytes, output.getName())) {
      into.elements().write(0, bytes);
    }
    return into;
  }

  static long[] shapeOf(dev.opserve.v1.Tensor output) {
    long[] shape = output.getShapeList().stream().mapToLong(Long::longValue).toArray();
    if (Shapes.elementsOrNegative(shape) < 0) {
      throw Errors.badAnswer("output " + output.getName() + " of shape " + Arrays.toString(shape));
    }
    return shape;
  }
}
