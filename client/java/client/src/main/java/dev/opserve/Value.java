package dev.opserve;

import java.util.Arrays;

/**
 * What a {@link Program} computes with, without its elements: an input, a result of a step, or a view of either. It is an input of the
 * calls that {@link Program#step} takes, and of no others.
 */
public final class Value implements Input {
  private final Program program;
  private final dev.opserve.v1.Tensor message;

  Value(Program program, String name) {
    this(program, dev.opserve.v1.Tensor.newBuilder().setValue(name).build());
  }

  private Value(Program program, dev.opserve.v1.Tensor message) {
    this.program = program;
    this.message = message;
  }

  /**
   * Another output of the step whose first output this is.
   *
   * @param name its name in the operator's schema: {@code "mean"}
   * @return the value
   */
  public Value output(String name) {
    if (isView()) {
      throw new IllegalArgumentException("output: want a step for the output " + name + ", got the view " + this);
    }
    return new Value(program, message.getValue() + "." + name);
  }

  /**
   * The elements in another shape, in their order.
   *
   * @param shape the extents, outermost first, of which one may be -1; none for a scalar
   * @return the view
   */
  public Value reshape(long... shape) {
    if (message.getStridesCount() > 0 || message.getStorageOffset() > 0) {
      throw new IllegalArgumentException("reshape: want a value whose elements lie in their order, got the view " + this);
    }
    return new Value(program, shaped(shape).build());
  }

  /**
   * A strided look into the elements, without a copy: a transposed matrix, a repeated row, a slice.
   *
   * @param shape the extents, outermost first
   * @param strides how many elements lie between neighbours along each dimension
   * @param offset the first element
   * @return the view
   */
  public Value view(long[] shape, long[] strides, long offset) {
    if (shape.length != strides.length) {
      throw new IllegalArgumentException("strides: want one for each of " + shape.length + " extents, got " + strides.length);
    }
    if (message.getStridesCount() > 0 || message.getStorageOffset() > 0) {
      throw new IllegalArgumentException("view: want a value whose elements lie in their order, got the view " + this);
    }
    return new Value(program, shaped(shape).addAllStrides(Arrays.stream(strides).boxed().toList()).setStorageOffset(offset).build());
  }

  private dev.opserve.v1.Tensor.Builder shaped(long[] shape) {
    return dev.opserve.v1.Tensor.newBuilder().setValue(message.getValue()).addAllShape(Arrays.stream(shape).boxed().toList())
        .setScalar(shape.length == 0);
  }

  /**
   * Not known here: it is that of what a call of the program gives.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public DataType dtype() {
    throw new UnsupportedOperationException("dtype: want a tensor, got the value " + this + " of a program");
  }

  /**
   * Not known here: it is that of what a call of the program gives.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public long[] shape() {
    throw new UnsupportedOperationException("shape: want a tensor, got the value " + this + " of a program");
  }

  Program program() {
    return program;
  }

  dev.opserve.v1.Tensor message() {
    return message;
  }

  boolean isView() {
    return message.getShapeCount() > 0 || message.getScalar();
  }

  @Override
  public String toString() {
    return ProgramText.ofValue(message);
  }
}
