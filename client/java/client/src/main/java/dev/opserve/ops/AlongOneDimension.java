// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Along one dimension: a function for each operator. What is not required is set on what it returns. */
public final class AlongOneDimension {
  private AlongOneDimension() {}

  /**
   * Exponentials along a dimension, as shares of their sum.
   *
   * <pre>
   * out = exp(self - m) / sum of exp(self - m) over dim, m the largest of self along dim. Where there is an infinity above, or
   *     only infinities below, the shares are NaN.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param dim the dimension along which it works; a negative one counts from the last
   * @return the call
   */
  public static Call softmax(Input self, long dim) {
    Call call = Call.of("Softmax");
    call.input("self", self);
    call.attribute("dim", dim);
    return call;
  }

  /**
   * Gradient of Softmax with respect to its input.
   *
   * <pre>
   * out = output * (grad_output - sum of grad_output * output over dim)
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param output the forward's result
   * @param dim the dimension along which it works; a negative one counts from the last
   * @return the call
   */
  public static Call softmaxBackward(Input gradOutput, Input output, long dim) {
    Call call = Call.of("SoftmaxBackward");
    call.input("grad_output", gradOutput);
    call.input("output", output);
    call.attribute("dim", dim);
    return call;
  }

  /**
   * Logarithm of Softmax.
   *
   * <pre>
   * out = self - m - ln(sum of exp(self - m) over dim), m the largest of self along dim
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param dim the dimension along which it works; a negative one counts from the last
   * @return the call
   */
  public static Call logSoftmax(Input self, long dim) {
    Call call = Call.of("LogSoftmax");
    call.input("self", self);
    call.attribute("dim", dim);
    return call;
  }

  /**
   * Gradient of LogSoftmax with respect to its input.
   *
   * <pre>
   * out = grad_output - exp(output) * sum of grad_output over dim
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param output the forward's result
   * @param dim the dimension along which it works; a negative one counts from the last
   * @return the call
   */
  public static Call logSoftmaxBackward(Input gradOutput, Input output, long dim) {
    Call call = Call.of("LogSoftmaxBackward");
    call.input("grad_output", gradOutput);
    call.input("output", output);
    call.attribute("dim", dim);
    return call;
  }
}
