package dev.opserve;

/**
 * What an input of a {@link Call} may be: a {@link Tensor} or a {@link TensorView}, which are sent, a {@link DeviceTensor}, which lies
 * on the server already, or a {@link TensorSpec}, which only says dtype and shape. A {@link Value} is an input of a {@link Program}'s steps.
 */
public sealed interface Input permits Tensor, TensorView, TensorSpec, DeviceTensor, Value {
  /**
   * The type of its elements.
   *
   * @return the type
   */
  DataType dtype();

  /**
   * Its extents, outermost first; none of a scalar.
   *
   * @return a new array
   */
  long[] shape();
}
