// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.DataType;
import dev.opserve.Input;

/** Arithmetic: a function for each operator. What is not required is set on what it returns. */
public final class Arithmetic {
  private Arithmetic() {}

  /**
   * The sum of two tensors, the second times a scalar.
   *
   * <pre>
   * out = self + alpha * other, rounded once
   * alpha is taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the first operand
   * @param other the second operand
   * @return the call
   */
  public static Add add(Input self, Input other) {
    Add call = new Add();
    call.input("self", self);
    call.input("other", other);
    return call;
  }

  /** A call of Add. */
  public static final class Add extends Call {
    private Add() {
      super("Add");
    }

    /**
     * Sets alpha.
     *
     * @param alpha factor of other; 1.0 unless set
     * @return this
     */
    public Add alpha(double alpha) {
      attribute("alpha", alpha);
      return this;
    }

    /**
     * Sets alpha.
     *
     * @param alpha factor of other; 1.0 unless set
     * @return this
     */
    public Add alpha(long alpha) {
      attribute("alpha", alpha);
      return this;
    }
  }

  /**
   * The difference of two tensors, the second times a scalar.
   *
   * <pre>
   * out = self - alpha * other, rounded once
   * alpha is taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the first operand
   * @param other the second operand
   * @return the call
   */
  public static Sub sub(Input self, Input other) {
    Sub call = new Sub();
    call.input("self", self);
    call.input("other", other);
    return call;
  }

  /** A call of Sub. */
  public static final class Sub extends Call {
    private Sub() {
      super("Sub");
    }

    /**
     * Sets alpha.
     *
     * @param alpha factor of other; 1.0 unless set
     * @return this
     */
    public Sub alpha(double alpha) {
      attribute("alpha", alpha);
      return this;
    }

    /**
     * Sets alpha.
     *
     * @param alpha factor of other; 1.0 unless set
     * @return this
     */
    public Sub alpha(long alpha) {
      attribute("alpha", alpha);
      return this;
    }
  }

  /**
   * The product of two tensors.
   *
   * <pre>
   * out = self * other
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the first operand
   * @param other the second operand
   * @return the call
   */
  public static Call mul(Input self, Input other) {
    Call call = Call.of("Mul");
    call.input("self", self);
    call.input("other", other);
    return call;
  }

  /**
   * The quotient of two tensors.
   *
   * <pre>
   * out = self / other
   * Division by 0 gives an infinity, 0 / 0 gives NaN.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the first operand
   * @param other the second operand
   * @return the call
   */
  public static Call div(Input self, Input other) {
    Call call = Call.of("Div");
    call.input("self", self);
    call.input("other", other);
    return call;
  }

  /**
   * A tensor in another dtype.
   *
   * <pre>
   * out = self, rounded to nearest, to even where two are as near
   * What is larger than all numbers of the dtype becomes an infinity. In C dtype is an aclDataType.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param dtype the dtype of out
   * @return the call
   */
  public static Call cast(Input self, DataType dtype) {
    Call call = Call.of("Cast");
    call.input("self", self);
    call.attribute("dtype", dtype.toString());
    return call;
  }

  /**
   * A copy of a tensor with its dimensions in another order.
   *
   * <pre>
   * Dimension i of out is dimension dims[i] of self.
   * Its gradient is Permute with the inverse order.
   * </pre>
   *
   * Outputs: {@code out}, the elements in another order.
   *
   * @param self the input
   * @param dims the dimensions of self in the order of out's, each once; negative ones count from the last
   * @return the call
   */
  public static Call permute(Input self, long[] dims) {
    Call call = Call.of("Permute");
    call.input("self", self);
    call.attribute("dims", dims);
    return call;
  }

  /**
   * The sum of a tensor's elements over some of its dimensions.
   *
   * <pre>
   * out = Σ self over dims
   * It adds in float32, sums of many terms in float64, and rounds once. The sum of no elements is 0. The gradient of what was
   *     broadcast is the sum over the dimensions that broadcasting made. In C dtype is an aclDataType.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param dims the dimensions over which it goes, each once; negative ones count from the last; none: all
   * @return the call
   */
  public static ReduceSum reduceSum(Input self, long[] dims) {
    ReduceSum call = new ReduceSum();
    call.input("self", self);
    call.attribute("dims", dims);
    return call;
  }

  /** A call of ReduceSum. */
  public static final class ReduceSum extends Call {
    private ReduceSum() {
      super("ReduceSum");
    }

    /**
     * Sets keepDims.
     *
     * @param keepDims whether out keeps those dimensions, with extent 1; false unless set
     * @return this
     */
    public ReduceSum keepDims(boolean keepDims) {
      attribute("keep_dims", keepDims);
      return this;
    }

    /**
     * Sets dtype.
     *
     * @param dtype the dtype of out; self unless set
     * @return this
     */
    public ReduceSum dtype(DataType dtype) {
      attribute("dtype", dtype.toString());
      return this;
    }
  }

  /**
   * The mean of a tensor's elements over some of its dimensions.
   *
   * <pre>
   * out = Σ self / n over dim, n the elements of each sum
   * It adds as ReduceSum does. The mean of no elements is NaN. In C dtype is an aclDataType.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param dim the dimensions over which it goes, each once; negative ones count from the last; none: all
   * @return the call
   */
  public static Mean mean(Input self, long[] dim) {
    Mean call = new Mean();
    call.input("self", self);
    call.attribute("dim", dim);
    return call;
  }

  /** A call of Mean. */
  public static final class Mean extends Call {
    private Mean() {
      super("Mean");
    }

    /**
     * Sets keepDim.
     *
     * @param keepDim whether out keeps those dimensions, with extent 1; false unless set
     * @return this
     */
    public Mean keepDim(boolean keepDim) {
      attribute("keep_dim", keepDim);
      return this;
    }

    /**
     * Sets dtype.
     *
     * @param dtype the dtype of out; self unless set
     * @return this
     */
    public Mean dtype(DataType dtype) {
      attribute("dtype", dtype.toString());
      return this;
    }
  }
}
