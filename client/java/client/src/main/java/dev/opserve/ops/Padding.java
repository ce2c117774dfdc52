// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Padding: a function for each operator. What is not required is set on what it returns. */
public final class Padding {
  private Padding() {}

  /**
   * Rows with their mirror image before and behind.
   *
   * <pre>
   * out[w] = self[x], x = w - padding[0]; where x &lt; 0 self[-x], where x &gt;= W self[2 * (W - 1) - x].
   * padding is less than W on both sides.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param padding elements before and behind each row; negative ones are left out of it
   * @return the call
   */
  public static Call reflectionPad1d(Input self, long[] padding) {
    Call call = Call.of("ReflectionPad1d");
    call.input("self", self);
    call.attribute("padding", padding);
    return call;
  }

  /**
   * Gradient of ReflectionPad1d.
   *
   * <pre>
   * grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape
   *     counts. Sums are float64.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input; not read
   * @param padding elements before and behind each row; negative ones are left out of it
   * @return the call
   */
  public static Call reflectionPad1dBackward(Input gradOutput, Input self, long[] padding) {
    Call call = Call.of("ReflectionPad1dBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.attribute("padding", padding);
    return call;
  }

  /**
   * Planes with their mirror images around them.
   *
   * <pre>
   * out[h][w] = self[y][x], x = w - padding[0] and y = h - padding[2]; where x &lt; 0 at -x, where x &gt;= W at 2 * (W - 1) -
   *     x, and y likewise.
   * padding is less than W left and right and less than H above and below.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param padding columns left and right, rows above and below of each plane; negative ones are left out of it
   * @return the call
   */
  public static Call reflectionPad2d(Input self, long[] padding) {
    Call call = Call.of("ReflectionPad2d");
    call.input("self", self);
    call.attribute("padding", padding);
    return call;
  }

  /**
   * Gradient of ReflectionPad2d.
   *
   * <pre>
   * grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape
   *     counts. Sums are float64.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input; not read
   * @param padding columns left and right, rows above and below of each plane; negative ones are left out of it
   * @return the call
   */
  public static Call reflectionPad2dBackward(Input gradOutput, Input self, long[] padding) {
    Call call = Call.of("ReflectionPad2dBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.attribute("padding", padding);
    return call;
  }

  /**
   * Rows with their first and last elements repeated before and behind.
   *
   * <pre>
   * out[w] = self[min(max(w - padding[0], 0), W - 1)]
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param padding elements before and behind each row; negative ones are left out of it
   * @return the call
   */
  public static Call replicationPad1d(Input self, long[] padding) {
    Call call = Call.of("ReplicationPad1d");
    call.input("self", self);
    call.attribute("padding", padding);
    return call;
  }

  /**
   * Gradient of ReplicationPad1d.
   *
   * <pre>
   * grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape
   *     counts. Sums are float64.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input; not read
   * @param padding elements before and behind each row; negative ones are left out of it
   * @return the call
   */
  public static Call replicationPad1dBackward(Input gradOutput, Input self, long[] padding) {
    Call call = Call.of("ReplicationPad1dBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.attribute("padding", padding);
    return call;
  }

  /**
   * Planes with their borders repeated around them.
   *
   * <pre>
   * out[h][w] = self[min(max(h - padding[2], 0), H - 1)][min(max(w - padding[0], 0), W - 1)]
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param padding columns left and right, rows above and below of each plane; negative ones are left out of it
   * @return the call
   */
  public static Call replicationPad2d(Input self, long[] padding) {
    Call call = Call.of("ReplicationPad2d");
    call.input("self", self);
    call.attribute("padding", padding);
    return call;
  }

  /**
   * Gradient of ReplicationPad2d.
   *
   * <pre>
   * grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape
   *     counts. Sums are float64.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input; not read
   * @param padding columns left and right, rows above and below of each plane; negative ones are left out of it
   * @return the call
   */
  public static Call replicationPad2dBackward(Input gradOutput, Input self, long[] padding) {
    Call call = Call.of("ReplicationPad2dBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.attribute("padding", padding);
    return call;
  }
}
