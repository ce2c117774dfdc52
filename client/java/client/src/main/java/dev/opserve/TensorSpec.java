package dev.opserve;

import java.util.Arrays;

/** A tensor's dtype and shape, without its elements: an input of {@link Client#plan}, or what that tells of an output. */
public final class TensorSpec implements Input {
  private final DataType dtype;
  private final long[] shape;

  private TensorSpec(DataType dtype, long[] shape) {
    this.dtype = dtype;
    this.shape = shape;
  }

  /**
   * A description.
   *
   * @param dtype the type of the elements
   * @param shape the extents, outermost first; none for a scalar
   * @return the description
   */
  public static TensorSpec of(DataType dtype, long... shape) {
    Shapes.elements(shape);
    return new TensorSpec(dtype, shape.clone());
  }

  @Override
  public DataType dtype() {
    return dtype;
  }

  @Override
  public long[] shape() {
    return shape.clone();
  }

  /**
   * The number of elements.
   *
   * @return the product of the extents
   */
  public long elementCount() {
    return Shapes.elements(shape);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TensorSpec spec && dtype == spec.dtype && Arrays.equals(shape, spec.shape);
  }

  @Override
  public int hashCode() {
    return 31 * dtype.hashCode() + Arrays.hashCode(shape);
  }

  @Override
  public String toString() {
    return dtype + Arrays.toString(shape);
  }
}
