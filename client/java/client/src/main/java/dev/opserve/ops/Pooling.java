// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Pooling: a function for each operator. What is not required is set on what it returns. */
public final class Pooling {
  private Pooling() {}

  /**
   * The largest element of each window of a plane, and its place.
   *
   * <pre>
   * out[h][w] = largest of the elements (h * stride[0] - padding[0] + i * dilation[0], w * stride[1] - padding[1] + j *
   *     dilation[1]) that lie in the plane, 0 &lt;= i &lt; kernel_size[0], 0 &lt;= j &lt; kernel_size[1]; indices its place,
   *     row * W + column. Of equal ones the first counts, but of NaNs, each of which is larger than any number, the last. A
   *     window without an element, which dilation makes possible, gives -inf and the place -1.
   * H_out = floor((H + 2 * padding[0] - dilation[0] * (kernel_size[0] - 1) - 1) / stride[0]) + 1, with ceil_mode rounded up,
   *     but without a window that begins behind the plane. W_out likewise.
   * indices are int32, as aclnn has them, or int64, as PyTorch has them, where that is asked for; planes of 2^31 elements and
   *     more take int64. The profiles atlas-a2 and atlas-a3 have int32 and no dilation.
   * </pre>
   *
   * Outputs: {@code out}, the result; {@code indices}, place of each result in its plane, row * W + column.
   *
   * @param self the input
   * @param kernelSize height and width of the windows, or one for both
   * @param stride from one window to the next, likewise; those of kernel_size when empty
   * @param padding rows and columns around each plane, likewise; at most half of kernel_size
   * @param dilation from one element of a window to the next, likewise
   * @return the call
   */
  public static MaxPool2dWithIndices maxPool2dWithIndices(
      Input self, long[] kernelSize, long[] stride, long[] padding, long[] dilation) {
    MaxPool2dWithIndices call = new MaxPool2dWithIndices();
    call.input("self", self);
    call.attribute("kernel_size", kernelSize);
    call.attribute("stride", stride);
    call.attribute("padding", padding);
    call.attribute("dilation", dilation);
    return call;
  }

  /** A call of MaxPool2dWithIndices. */
  public static final class MaxPool2dWithIndices extends Call {
    private MaxPool2dWithIndices() {
      super("MaxPool2dWithIndices");
    }

    /**
     * Sets ceilMode.
     *
     * @param ceilMode whether a last window may jut out, if it begins in the plane or the padding before; false unless set
     * @return this
     */
    public MaxPool2dWithIndices ceilMode(boolean ceilMode) {
      attribute("ceil_mode", ceilMode);
      return this;
    }
  }

  /**
   * Gradient of MaxPool2dWithIndices.
   *
   * <pre>
   * grad_input = for each element the sum of the grad_output of its plane whose index it is, in their order, in float32. Of
   *     self only the shape counts.
   * An index is that of an element of the plane, whether or not the window has it, or -1: its gradient then goes nowhere. Any
   *     other is an error of phase two. The profiles atlas-a2 and atlas-a3 take int32 and no dilation.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input; not read
   * @param indices the forward's
   * @param kernelSize height and width of the windows, or one for both
   * @param stride from one window to the next, likewise; those of kernel_size when empty
   * @param padding rows and columns around each plane, likewise; at most half of kernel_size
   * @param dilation from one element of a window to the next, likewise
   * @return the call
   */
  public static MaxPool2dWithIndicesBackward maxPool2dWithIndicesBackward(
      Input gradOutput, Input self, Input indices, long[] kernelSize, long[] stride, long[] padding, long[] dilation) {
    MaxPool2dWithIndicesBackward call = new MaxPool2dWithIndicesBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("indices", indices);
    call.attribute("kernel_size", kernelSize);
    call.attribute("stride", stride);
    call.attribute("padding", padding);
    call.attribute("dilation", dilation);
    return call;
  }

  /** A call of MaxPool2dWithIndicesBackward. */
  public static final class MaxPool2dWithIndicesBackward extends Call {
    private MaxPool2dWithIndicesBackward() {
      super("MaxPool2dWithIndicesBackward");
    }

    /**
     * Sets ceilMode.
     *
     * @param ceilMode whether a last window may jut out, if it begins in the plane or the padding before; false unless set
     * @return this
     */
    public MaxPool2dWithIndicesBackward ceilMode(boolean ceilMode) {
      attribute("ceil_mode", ceilMode);
      return this;
    }
  }

  /**
   * The mean of each window of a plane.
   *
   * <pre>
   * out[h][w] = sum of the window that begins at (h * stride[0] - padding[0], w * stride[1] - padding[1]) / divisor, padding
   *     counting as zeros. The divisor is divisor_override where that is not 0 (PyTorch has None for it); else the number of
   *     the window's elements in the plane and, with count_include_pad, in its padding.
   * H_out = floor((H + 2 * padding[0] - kernel_size[0]) / stride[0]) + 1, with ceil_mode rounded up, but without a window that
   *     begins behind the plane. W_out likewise. Sums are float64.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param kernelSize height and width of the windows, or one for both
   * @param stride from one window to the next, likewise; those of kernel_size when empty
   * @param padding rows and columns around each plane, likewise; at most half of kernel_size
   * @return the call
   */
  public static AvgPool2d avgPool2d(Input self, long[] kernelSize, long[] stride, long[] padding) {
    AvgPool2d call = new AvgPool2d();
    call.input("self", self);
    call.attribute("kernel_size", kernelSize);
    call.attribute("stride", stride);
    call.attribute("padding", padding);
    return call;
  }

  /** A call of AvgPool2d. */
  public static final class AvgPool2d extends Call {
    private AvgPool2d() {
      super("AvgPool2d");
    }

    /**
     * Sets ceilMode.
     *
     * @param ceilMode whether a last window may jut out, if it begins in the plane or the padding before; false unless set
     * @return this
     */
    public AvgPool2d ceilMode(boolean ceilMode) {
      attribute("ceil_mode", ceilMode);
      return this;
    }

    /**
     * Sets countIncludePad.
     *
     * @param countIncludePad whether a mean is over the padding in its window, too; true unless set
     * @return this
     */
    public AvgPool2d countIncludePad(boolean countIncludePad) {
      attribute("count_include_pad", countIncludePad);
      return this;
    }

    /**
     * Sets divisorOverride.
     *
     * @param divisorOverride what sums are divided by; 0: by the number of their terms; 0 unless set
     * @return this
     */
    public AvgPool2d divisorOverride(long divisorOverride) {
      attribute("divisor_override", divisorOverride);
      return this;
    }

    /**
     * Sets cubeMathType.
     *
     * @param cubeMathType how an NPU's matrix unit may compute; of no effect on the CPU; 0 unless set
     * @return this
     */
    public AvgPool2d cubeMathType(long cubeMathType) {
      attribute("cube_math_type", cubeMathType);
      return this;
    }
  }

  /**
   * Gradient of AvgPool2d.
   *
   * <pre>
   * grad_input = for each element the sum of grad_output / divisor over the windows that it is in, in the order of the windows.
   *     The divisors are AvgPool2d's. Of self only the shape counts. Sums are float64.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input; not read
   * @param kernelSize height and width of the windows, or one for both
   * @param stride from one window to the next, likewise; those of kernel_size when empty
   * @param padding rows and columns around each plane, likewise; at most half of kernel_size
   * @return the call
   */
  public static AvgPool2dBackward avgPool2dBackward(
      Input gradOutput, Input self, long[] kernelSize, long[] stride, long[] padding) {
    AvgPool2dBackward call = new AvgPool2dBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.attribute("kernel_size", kernelSize);
    call.attribute("stride", stride);
    call.attribute("padding", padding);
    return call;
  }

  /** A call of AvgPool2dBackward. */
  public static final class AvgPool2dBackward extends Call {
    private AvgPool2dBackward() {
      super("AvgPool2dBackward");
    }

    /**
     * Sets ceilMode.
     *
     * @param ceilMode whether a last window may jut out, if it begins in the plane or the padding before; false unless set
     * @return this
     */
    public AvgPool2dBackward ceilMode(boolean ceilMode) {
      attribute("ceil_mode", ceilMode);
      return this;
    }

    /**
     * Sets countIncludePad.
     *
     * @param countIncludePad whether a mean is over the padding in its window, too; true unless set
     * @return this
     */
    public AvgPool2dBackward countIncludePad(boolean countIncludePad) {
      attribute("count_include_pad", countIncludePad);
      return this;
    }

    /**
     * Sets divisorOverride.
     *
     * @param divisorOverride what sums are divided by; 0: by the number of their terms; 0 unless set
     * @return this
     */
    public AvgPool2dBackward divisorOverride(long divisorOverride) {
      attribute("divisor_override", divisorOverride);
      return this;
    }

    /**
     * Sets cubeMathType.
     *
     * @param cubeMathType how an NPU's matrix unit may compute; of no effect on the CPU; 0 unless set
     * @return this
     */
    public AvgPool2dBackward cubeMathType(long cubeMathType) {
      attribute("cube_math_type", cubeMathType);
      return this;
    }
  }

  /**
   * The means of the windows that share a plane out among an output of any size.
   *
   * <pre>
   * out[h][w] = mean of the elements with rows from floor(h * H / H_out) to before ceil((h + 1) * H / H_out) and columns
   *     likewise. Sums are float64.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param outputSize height and width of the result, or one for both
   * @return the call
   */
  public static Call adaptiveAvgPool2d(Input self, long[] outputSize) {
    Call call = Call.of("AdaptiveAvgPool2d");
    call.input("self", self);
    call.attribute("output_size", outputSize);
    return call;
  }

  /**
   * Gradient of AdaptiveAvgPool2d.
   *
   * <pre>
   * out = for each element the sum of grad_output / (elements of the window) over the windows that it is in, in the order of
   *     the windows. Of self only the shape counts. A grad_output without elements gives zeros, where PyTorch refuses it. Sums
   *     are float64.
   * </pre>
   *
   * Outputs: {@code out}, gradient of self.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input; not read
   * @return the call
   */
  public static Call adaptiveAvgPool2dBackward(Input gradOutput, Input self) {
    Call call = Call.of("AdaptiveAvgPool2dBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }
}
