// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Products: a function for each operator. What is not required is set on what it returns. */
public final class Products {
  private Products() {}

  /**
   * The product of two matrices, of a matrix and a vector, or of each of two batches.
   *
   * <pre>
   * out[..., m, n] = sum over k of self[..., m, k] * mat2[..., k, n]
   * A self of rank 1 is a row, a mat2 of rank 1 a column; the dimension of 1 that this adds is not in the result. Dimensions
   *     before the last two are a batch and broadcast. Without any k the product is zeros. Sums are made in float32, in an
   *     order that follows from the shapes, and rounded once to out's dtype.
   * With the last two dimensions transposed by their strides, which takes no copy, the gradients are products, too: that of
   *     self is the incoming gradient times mat2 transposed, that of mat2 is self transposed times the incoming gradient, each
   *     summed over the batch dimensions along which its input was broadcast.
   * cube_math_type has no effect on the CPU.
   * </pre>
   *
   * Outputs: {@code out}, the product.
   *
   * @param self the first factor
   * @param mat2 the second factor
   * @return the call
   */
  public static Matmul matmul(Input self, Input mat2) {
    Matmul call = new Matmul();
    call.input("self", self);
    call.input("mat2", mat2);
    return call;
  }

  /** A call of Matmul. */
  public static final class Matmul extends Call {
    private Matmul() {
      super("Matmul");
    }

    /**
     * Sets cubeMathType.
     *
     * @param cubeMathType precision of the products on an NPU; on the CPU it has no effect: KEEP_DTYPE,
     *     ALLOW_FP32_DOWN_PRECISION, USE_FP16, USE_HF32; KEEP_DTYPE unless set
     * @return this
     */
    public Matmul cubeMathType(CubeMathType cubeMathType) {
      attribute("cube_math_type", cubeMathType.choice());
      return this;
    }
  }

  /**
   * The products of two batches of matrices.
   *
   * <pre>
   * out[b, m, n] = sum over k of self[b, m, k] * mat2[b, k, n]
   * Both inputs have rank 3 and as many matrices. Sums and gradients are as Matmul's.
   * cube_math_type has no effect on the CPU.
   * </pre>
   *
   * Outputs: {@code out}, the products.
   *
   * @param self the first factors
   * @param mat2 the second factors
   * @return the call
   */
  public static BatchMatMul batchMatMul(Input self, Input mat2) {
    BatchMatMul call = new BatchMatMul();
    call.input("self", self);
    call.input("mat2", mat2);
    return call;
  }

  /** A call of BatchMatMul. */
  public static final class BatchMatMul extends Call {
    private BatchMatMul() {
      super("BatchMatMul");
    }

    /**
     * Sets cubeMathType.
     *
     * @param cubeMathType precision of the products on an NPU; on the CPU it has no effect: KEEP_DTYPE,
     *     ALLOW_FP32_DOWN_PRECISION, USE_FP16, USE_HF32; KEEP_DTYPE unless set
     * @return this
     */
    public BatchMatMul cubeMathType(CubeMathType cubeMathType) {
      attribute("cube_math_type", cubeMathType.choice());
      return this;
    }
  }

  /**
   * A matrix plus the product of two others.
   *
   * <pre>
   * out = beta * self + alpha * (mat1 times mat2)
   * self broadcasts to the shape of the product. With beta = 0 self is not read, whatever numbers it holds. beta and alpha are
   *     taken as float32; the sum is rounded once to out's dtype.
   * The gradient of self is beta times the incoming one, summed over the dimensions along which it was broadcast; those of mat1
   *     and mat2 are alpha times Matmul's.
   * cube_math_type has no effect on the CPU.
   * </pre>
   *
   * Outputs: {@code out}, the sum.
   *
   * @param self what is added
   * @param mat1 the first factor
   * @param mat2 the second factor
   * @return the call
   */
  public static Addmm addmm(Input self, Input mat1, Input mat2) {
    Addmm call = new Addmm();
    call.input("self", self);
    call.input("mat1", mat1);
    call.input("mat2", mat2);
    return call;
  }

  /** A call of Addmm. */
  public static final class Addmm extends Call {
    private Addmm() {
      super("Addmm");
    }

    /**
     * Sets beta.
     *
     * @param beta factor of self; 1.0 unless set
     * @return this
     */
    public Addmm beta(double beta) {
      attribute("beta", beta);
      return this;
    }

    /**
     * Sets beta.
     *
     * @param beta factor of self; 1.0 unless set
     * @return this
     */
    public Addmm beta(long beta) {
      attribute("beta", beta);
      return this;
    }

    /**
     * Sets alpha.
     *
     * @param alpha factor of the product; 1.0 unless set
     * @return this
     */
    public Addmm alpha(double alpha) {
      attribute("alpha", alpha);
      return this;
    }

    /**
     * Sets alpha.
     *
     * @param alpha factor of the product; 1.0 unless set
     * @return this
     */
    public Addmm alpha(long alpha) {
      attribute("alpha", alpha);
      return this;
    }

    /**
     * Sets cubeMathType.
     *
     * @param cubeMathType precision of the products on an NPU; on the CPU it has no effect: KEEP_DTYPE,
     *     ALLOW_FP32_DOWN_PRECISION, USE_FP16, USE_HF32; KEEP_DTYPE unless set
     * @return this
     */
    public Addmm cubeMathType(CubeMathType cubeMathType) {
      attribute("cube_math_type", cubeMathType.choice());
      return this;
    }
  }

  /**
   * The convolution of a batch with kernels, or the transposed one, in 1 to 3 dimensions.
   *
   * <pre>
   * out[n, o, p] = bias[o] + sum over c and k of weight[o, c, k] * input[n, c, p * stride - padding + k * dilation], c over the
   *     channels of o's group; outside of the input there are zeros.
   * An extent of out is (extent + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1, rounded down.
   * transposed is its gradient with respect to the input, applied to input: weight is (C, Cout/groups, ...), an extent of out
   *     is (extent - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1, and output_padding is less than
   *     the stride or the dilation. Elsewhere output_padding has no effect.
   * A list of one entry stands for all dimensions. Sums are made in float32, in an order that follows from the shapes, and
   *     rounded once to out's dtype. A kernel's element that is infinite or NaN makes NaN also of zeros of the padding. An
   *     input without the batch's dimension is not taken.
   * cube_math_type has no effect on the CPU.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param input the input
   * @param weight the kernels
   * @param stride distance of the kernel's places
   * @param padding zeros at either end of the input
   * @param dilation distance of the kernel's elements
   * @param outputPadding added to the extents of a transposed convolution's result
   * @return the call
   */
  public static Convolution convolution(
      Input input, Input weight, long[] stride, long[] padding, long[] dilation, long[] outputPadding) {
    Convolution call = new Convolution();
    call.input("input", input);
    call.input("weight", weight);
    call.attribute("stride", stride);
    call.attribute("padding", padding);
    call.attribute("dilation", dilation);
    call.attribute("output_padding", outputPadding);
    return call;
  }

  /** A call of Convolution. */
  public static final class Convolution extends Call {
    private Convolution() {
      super("Convolution");
    }

    /**
     * Sets bias.
     *
     * @param bias added to each channel of the result
     * @return this
     */
    public Convolution bias(Input bias) {
      input("bias", bias);
      return this;
    }

    /**
     * Sets transposed.
     *
     * @param transposed whether it is the transposed convolution; false unless set
     * @return this
     */
    public Convolution transposed(boolean transposed) {
      attribute("transposed", transposed);
      return this;
    }

    /**
     * Sets groups.
     *
     * @param groups into how many the channels are divided; 1 unless set
     * @return this
     */
    public Convolution groups(long groups) {
      attribute("groups", groups);
      return this;
    }

    /**
     * Sets cubeMathType.
     *
     * @param cubeMathType precision of the products on an NPU; on the CPU it has no effect: KEEP_DTYPE,
     *     ALLOW_FP32_DOWN_PRECISION, USE_FP16, USE_HF32; KEEP_DTYPE unless set
     * @return this
     */
    public Convolution cubeMathType(CubeMathType cubeMathType) {
      attribute("cube_math_type", cubeMathType.choice());
      return this;
    }
  }

  /**
   * Gradients of Convolution with respect to its input, weight and bias.
   *
   * <pre>
   * grad_input[n, c, x] = sum over o, p and k with p * stride - padding + k * dilation = x of weight[o, c, k] * grad_output[n,
   *     o, p]
   * grad_weight[o, c, k] = sum over n and p of grad_output[n, o, p] * input[n, c, p * stride - padding + k * dilation]
   * grad_bias[o] = sum over n and p of grad_output[n, o, p]
   * The other attributes are those of the forward; with transposed the roles of input and grad_output are exchanged in the
   *     first two. Sums are made in float32, in an order that follows from the shapes, and rounded once to the output's dtype.
   * An output that output_mask leaves out is empty and not computed.
   * cube_math_type has no effect on the CPU.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of input; {@code grad_weight}, gradient of weight; {@code grad_bias}, gradient of the
   * bias.
   *
   * @param gradOutput gradient of Convolution's out
   * @param input the input of Convolution
   * @param weight the kernels
   * @param stride distance of the kernel's places
   * @param padding zeros at either end of the input
   * @param dilation distance of the kernel's elements
   * @param outputPadding added to the extents of a transposed convolution's result
   * @return the call
   */
  public static ConvolutionBackward convolutionBackward(
      Input gradOutput, Input input, Input weight, long[] stride, long[] padding, long[] dilation, long[] outputPadding) {
    ConvolutionBackward call = new ConvolutionBackward();
    call.input("grad_output", gradOutput);
    call.input("input", input);
    call.input("weight", weight);
    call.attribute("stride", stride);
    call.attribute("padding", padding);
    call.attribute("dilation", dilation);
    call.attribute("output_padding", outputPadding);
    return call;
  }

  /** A call of ConvolutionBackward. */
  public static final class ConvolutionBackward extends Call {
    private ConvolutionBackward() {
      super("ConvolutionBackward");
    }

    /**
     * Sets biasSizes.
     *
     * @param biasSizes shape of the bias, (Cout); an empty list stands for it, too; [] unless set
     * @return this
     */
    public ConvolutionBackward biasSizes(long... biasSizes) {
      attribute("bias_sizes", biasSizes);
      return this;
    }

    /**
     * Sets transposed.
     *
     * @param transposed whether it is the transposed convolution; false unless set
     * @return this
     */
    public ConvolutionBackward transposed(boolean transposed) {
      attribute("transposed", transposed);
      return this;
    }

    /**
     * Sets groups.
     *
     * @param groups into how many the channels are divided; 1 unless set
     * @return this
     */
    public ConvolutionBackward groups(long groups) {
      attribute("groups", groups);
      return this;
    }

    /**
     * Sets outputMask.
     *
     * @param outputMask which of grad_input, grad_weight and grad_bias to compute; [true, true, true] unless set
     * @return this
     */
    public ConvolutionBackward outputMask(boolean... outputMask) {
      attribute("output_mask", outputMask);
      return this;
    }

    /**
     * Sets cubeMathType.
     *
     * @param cubeMathType precision of the products on an NPU; on the CPU it has no effect: KEEP_DTYPE,
     *     ALLOW_FP32_DOWN_PRECISION, USE_FP16, USE_HF32; KEEP_DTYPE unless set
     * @return this
     */
    public ConvolutionBackward cubeMathType(CubeMathType cubeMathType) {
      attribute("cube_math_type", cubeMathType.choice());
      return this;
    }
  }
}
