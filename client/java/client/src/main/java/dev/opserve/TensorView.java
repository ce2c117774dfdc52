package dev.opserve;

import java.nio.ByteBuffer;

/**
 * A strided look into a tensor's elements, as an input: a transposed matrix, a repeated row. Its tensor is sent as it is, with the
 * strides. {@link Tensor#view} makes one.
 */
public final class TensorView implements Input {
  private final Tensor tensor;
  private final long[] shape;
  private final long[] strides;
  private final long offset;

  TensorView(Tensor tensor, long[] shape, long[] strides, long offset) {
    if (shape.length != strides.length) {
      throw new IllegalArgumentException("strides: want one for each of " + shape.length + " extents, got " + strides.length);
    }
    boolean empty = Shapes.elements(shape) == 0;
    long last = offset;
    for (int i = 0; i < shape.length && !empty; i++) {
      if (strides[i] < 0) {
        throw new IllegalArgumentException("strides: want >= 0, got " + strides[i]);
      }
      last = Math.addExact(last, Math.multiplyExact(shape[i] - 1, strides[i]));
    }
    if (offset < 0 || (!empty && last >= tensor.elementCount())) {
      throw new IllegalArgumentException(
          "view: want elements inside the " + tensor.elementCount() + " of the tensor, got some from " + offset + " to " + last);
    }
    this.tensor = tensor;
    this.shape = shape.clone();
    this.strides = strides.clone();
    this.offset = offset;
  }

  @Override
  public DataType dtype() {
    return tensor.dtype();
  }

  @Override
  public long[] shape() {
    return shape.clone();
  }

  /** The elements that the view has, one behind the other. */
  Tensor dense() {
    int size = dtype().byteSize();
    int count = Math.toIntExact(Shapes.elements(shape));
    ByteBuffer from = tensor.bytes();
    ByteBuffer to = ByteBuffer.allocate(Math.multiplyExact(count, size));
    long[] index = new long[shape.length];
    long place = offset;
    for (int i = 0; i < count; i++) {
      to.put(i * size, from, (int) place * size, size);
      for (int axis = shape.length - 1; axis >= 0; axis--) {
        place += strides[axis];
        if (++index[axis] < shape[axis]) {
          break;
        }
        place -= strides[axis] * shape[axis];
        index[axis] = 0;
      }
    }
    return Tensor.answered(dtype(), new Elements(to), shape);
  }

  Tensor tensor() {
    return tensor;
  }

  long[] strides() {
    return strides;
  }

  long offset() {
    return offset;
  }
}
