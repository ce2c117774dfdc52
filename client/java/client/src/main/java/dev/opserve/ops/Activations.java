// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Activations: a function for each operator. What is not required is set on what it returns. */
public final class Activations {
  private Activations() {}

  /**
   * The input, with values near zero set to zero.
   *
   * <pre>
   * out = 0 where |self| &lt;= lambd, self elsewhere
   * lambd &lt; 0 counts as 0 and is rounded to self's dtype first. A NaN self or lambd lets self pass.
   * </pre>
   *
   * Outputs: {@code out}, self with its dead zone at 0.
   *
   * @param self the input
   * @param lambd half the width of the dead zone; below 0 it counts as 0
   * @return the call
   */
  public static Call hardshrink(Input self, double lambd) {
    Call call = Call.of("Hardshrink");
    call.input("self", self);
    call.attribute("lambd", lambd);
    return call;
  }

  /**
   * Gradient of Hardshrink.
   *
   * <pre>
   * grad_input = 0 where |self| &lt;= lambd, grad_output elsewhere
   * lambd is rounded to the promoted dtype of the inputs first. A NaN self or lambd lets the gradient pass; an infinite
   *     gradient in the dead zone gives 0.
   * Unlike PyTorch, lambd &lt; 0 counts as 0, and NaN is treated alike in every position of a tensor.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self.
   *
   * @param gradOutput gradient of Hardshrink's result
   * @param self the input of Hardshrink
   * @param lambd half the width of the dead zone; below 0 it counts as 0
   * @return the call
   */
  public static Call hardshrinkBackward(Input gradOutput, Input self, double lambd) {
    Call call = Call.of("HardshrinkBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.attribute("lambd", lambd);
    return call;
  }

  /**
   * The logistic function of each element.
   *
   * <pre>
   * out = 1 / (1 + exp(-self))
   * A NaN gives NaN; -inf gives 0, +inf 1.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call sigmoid(Input self) {
    Call call = Call.of("Sigmoid");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of Sigmoid, from its result.
   *
   * <pre>
   * grad_input = (grad_output * (1 - output)) * output
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param output the forward's result
   * @return the call
   */
  public static Call sigmoidBackward(Input gradOutput, Input output) {
    Call call = Call.of("SigmoidBackward");
    call.input("grad_output", gradOutput);
    call.input("output", output);
    return call;
  }

  /**
   * The hyperbolic tangent of each element.
   *
   * <pre>
   * out = tanh(self)
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call tanh(Input self) {
    Call call = Call.of("Tanh");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of Tanh, from its result.
   *
   * <pre>
   * grad_input = grad_output * (1 - output * output)
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param output the forward's result
   * @return the call
   */
  public static Call tanhBackward(Input gradOutput, Input output) {
    Call call = Call.of("TanhBackward");
    call.input("grad_output", gradOutput);
    call.input("output", output);
    return call;
  }

  /**
   * The sigmoid linear unit: each element times its sigmoid.
   *
   * <pre>
   * out = self * sigmoid(self)
   * -inf gives NaN.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call silu(Input self) {
    Call call = Call.of("Silu");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of Silu.
   *
   * <pre>
   * s = sigmoid(self)
   * grad_input = grad_output * (s + self * s * (1 - s))
   * An infinite self gives NaN.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static Call siluBackward(Input gradOutput, Input self) {
    Call call = Call.of("SiluBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /**
   * Each element times the sigmoid of its multiple.
   *
   * <pre>
   * out = self * sigmoid(beta * self)
   * beta is taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Swish swish(Input self) {
    Swish call = new Swish();
    call.input("self", self);
    return call;
  }

  /** A call of Swish. */
  public static final class Swish extends Call {
    private Swish() {
      super("Swish");
    }

    /**
     * Sets beta.
     *
     * @param beta factor of self inside the sigmoid; 1.0 unless set
     * @return this
     */
    public Swish beta(double beta) {
      attribute("beta", beta);
      return this;
    }

    /**
     * Sets beta.
     *
     * @param beta factor of self inside the sigmoid; 1.0 unless set
     * @return this
     */
    public Swish beta(long beta) {
      attribute("beta", beta);
      return this;
    }
  }

  /**
   * Gradient of Swish.
   *
   * <pre>
   * z = beta * self, s = sigmoid(z)
   * grad_input = grad_output * (s + z * s * (1 - s))
   * beta is taken as float32.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static SwishBackward swishBackward(Input gradOutput, Input self) {
    SwishBackward call = new SwishBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /** A call of SwishBackward. */
  public static final class SwishBackward extends Call {
    private SwishBackward() {
      super("SwishBackward");
    }

    /**
     * Sets beta.
     *
     * @param beta factor of self inside the sigmoid; 1.0 unless set
     * @return this
     */
    public SwishBackward beta(double beta) {
      attribute("beta", beta);
      return this;
    }

    /**
     * Sets beta.
     *
     * @param beta factor of self inside the sigmoid; 1.0 unless set
     * @return this
     */
    public SwishBackward beta(long beta) {
      attribute("beta", beta);
      return this;
    }
  }

  /**
   * Each element times the hyperbolic tangent of its softplus.
   *
   * <pre>
   * out = self * tanh(log(1 + exp(self)))
   * -inf gives NaN.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call mish(Input self) {
    Call call = Call.of("Mish");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of Mish.
   *
   * <pre>
   * t = tanh(log(1 + exp(self)))
   * grad_input = grad_output * (t + self * sigmoid(self) * (1 - t * t))
   * An infinite self gives NaN.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static Call mishBackward(Input gradOutput, Input self) {
    Call call = Call.of("MishBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /**
   * The Gaussian error linear unit.
   *
   * <pre>
   * out = self * P(self), P the standard normal distribution function
   * -inf gives NaN.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call gelu(Input self) {
    Call call = Call.of("Gelu");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of Gelu.
   *
   * <pre>
   * grad_input = grad_output * (P(self) + self * p(self)), P the standard normal distribution function and p its density
   * An infinite self gives NaN.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static Call geluBackward(Input gradOutput, Input self) {
    Call call = Call.of("GeluBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /**
   * The Gaussian error linear unit, exact or by tanh.
   *
   * <pre>
   * With approximate none out = self * P(self), P the standard normal distribution function.
   * With approximate tanh out = self * (1 + tanh(sqrt(2 / pi) * (self + 0.044715 * self^3))) / 2.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static GeluV2 geluV2(Input self) {
    GeluV2 call = new GeluV2();
    call.input("self", self);
    return call;
  }

  /** A call of GeluV2. */
  public static final class GeluV2 extends Call {
    private GeluV2() {
      super("GeluV2");
    }

    /**
     * Sets approximate.
     *
     * @param approximate how the distribution function is computed: NONE, TANH; NONE unless set
     * @return this
     */
    public GeluV2 approximate(Approximate approximate) {
      attribute("approximate", approximate.choice());
      return this;
    }
  }

  /**
   * Gradient of GeluV2.
   *
   * <pre>
   * grad_output times the derivative of what GeluV2 computes with the same approximate. An infinite self gives NaN.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static GeluBackwardV2 geluBackwardV2(Input gradOutput, Input self) {
    GeluBackwardV2 call = new GeluBackwardV2();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /** A call of GeluBackwardV2. */
  public static final class GeluBackwardV2 extends Call {
    private GeluBackwardV2() {
      super("GeluBackwardV2");
    }

    /**
     * Sets approximate.
     *
     * @param approximate how the distribution function is computed: NONE, TANH; NONE unless set
     * @return this
     */
    public GeluBackwardV2 approximate(Approximate approximate) {
      attribute("approximate", approximate.choice());
      return this;
    }
  }

  /**
   * A piecewise linear sigmoid.
   *
   * <pre>
   * out = min(max(self + 3, 0), 6) / 6
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call hardsigmoid(Input self) {
    Call call = Call.of("Hardsigmoid");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of Hardsigmoid.
   *
   * <pre>
   * out = grad_output / 6 where -3 &lt; self &lt; 3, 0 elsewhere
   * A NaN self gives 0.
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static Call hardsigmoidBackward(Input gradOutput, Input self) {
    Call call = Call.of("HardsigmoidBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /**
   * Each element times a piecewise linear sigmoid.
   *
   * <pre>
   * out = self * min(max(self + 3, 0), 6) / 6
   * -inf gives NaN.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call hardswish(Input self) {
    Call call = Call.of("Hardswish");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of Hardswish.
   *
   * <pre>
   * out = 0 where self &lt;= -3, grad_output where self &gt;= 3, grad_output * (self / 3 + 1/2) between
   * A NaN self gives NaN in every position of a tensor.
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static Call hardswishBackward(Input gradOutput, Input self) {
    Call call = Call.of("HardswishBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /**
   * Each element held to a range.
   *
   * <pre>
   * out = min(max(self, clip_value_min), clip_value_max)
   * Where clip_value_min &gt; clip_value_max the result is clip_value_max. Both are taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Hardtanh hardtanh(Input self) {
    Hardtanh call = new Hardtanh();
    call.input("self", self);
    return call;
  }

  /** A call of Hardtanh. */
  public static final class Hardtanh extends Call {
    private Hardtanh() {
      super("Hardtanh");
    }

    /**
     * Sets clipValueMin.
     *
     * @param clipValueMin least value of the result; -1.0 unless set
     * @return this
     */
    public Hardtanh clipValueMin(double clipValueMin) {
      attribute("clip_value_min", clipValueMin);
      return this;
    }

    /**
     * Sets clipValueMin.
     *
     * @param clipValueMin least value of the result; -1.0 unless set
     * @return this
     */
    public Hardtanh clipValueMin(long clipValueMin) {
      attribute("clip_value_min", clipValueMin);
      return this;
    }

    /**
     * Sets clipValueMax.
     *
     * @param clipValueMax largest value of the result; 1.0 unless set
     * @return this
     */
    public Hardtanh clipValueMax(double clipValueMax) {
      attribute("clip_value_max", clipValueMax);
      return this;
    }

    /**
     * Sets clipValueMax.
     *
     * @param clipValueMax largest value of the result; 1.0 unless set
     * @return this
     */
    public Hardtanh clipValueMax(long clipValueMax) {
      attribute("clip_value_max", clipValueMax);
      return this;
    }
  }

  /**
   * Gradient of Hardtanh.
   *
   * <pre>
   * out = 0 where self &lt;= min or self &gt;= max, grad_output elsewhere
   * A NaN self lets the gradient pass, in every position of a tensor. min and max are taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static HardtanhBackward hardtanhBackward(Input gradOutput, Input self) {
    HardtanhBackward call = new HardtanhBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /** A call of HardtanhBackward. */
  public static final class HardtanhBackward extends Call {
    private HardtanhBackward() {
      super("HardtanhBackward");
    }

    /**
     * Sets min.
     *
     * @param min the forward's clip_value_min; -1.0 unless set
     * @return this
     */
    public HardtanhBackward min(double min) {
      attribute("min", min);
      return this;
    }

    /**
     * Sets min.
     *
     * @param min the forward's clip_value_min; -1.0 unless set
     * @return this
     */
    public HardtanhBackward min(long min) {
      attribute("min", min);
      return this;
    }

    /**
     * Sets max.
     *
     * @param max the forward's clip_value_max; 1.0 unless set
     * @return this
     */
    public HardtanhBackward max(double max) {
      attribute("max", max);
      return this;
    }

    /**
     * Sets max.
     *
     * @param max the forward's clip_value_max; 1.0 unless set
     * @return this
     */
    public HardtanhBackward max(long max) {
      attribute("max", max);
      return this;
    }
  }

  /**
   * The scaled exponential linear unit.
   *
   * <pre>
   * out = scale * self where self &gt; 0, scale * alpha * (exp(self) - 1) elsewhere
   * alpha = 1.6732632423543773, scale = 1.0507009873554805 (Klambauer et al., Self-Normalizing Neural Networks, 2017).
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call selu(Input self) {
    Call call = Call.of("Selu");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of Selu, from its result.
   *
   * <pre>
   * grad_input = grad_output * scale where result &gt; 0, grad_output * (result + scale * alpha) elsewhere
   * alpha and scale are those of Selu.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param result the forward's result
   * @return the call
   */
  public static Call seluBackward(Input gradOutput, Input result) {
    Call call = Call.of("SeluBackward");
    call.input("grad_output", gradOutput);
    call.input("result", result);
    return call;
  }

  /**
   * The exponential linear unit.
   *
   * <pre>
   * out = scale * self where self &gt; 0, scale * alpha * (exp(input_scale * self) - 1) elsewhere
   * alpha, scale and input_scale are taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Elu elu(Input self) {
    Elu call = new Elu();
    call.input("self", self);
    return call;
  }

  /** A call of Elu. */
  public static final class Elu extends Call {
    private Elu() {
      super("Elu");
    }

    /**
     * Sets alpha.
     *
     * @param alpha what the result tends to below 0, before scale; its negative; 1.0 unless set
     * @return this
     */
    public Elu alpha(double alpha) {
      attribute("alpha", alpha);
      return this;
    }

    /**
     * Sets alpha.
     *
     * @param alpha what the result tends to below 0, before scale; its negative; 1.0 unless set
     * @return this
     */
    public Elu alpha(long alpha) {
      attribute("alpha", alpha);
      return this;
    }

    /**
     * Sets scale.
     *
     * @param scale factor of the result; 1.0 unless set
     * @return this
     */
    public Elu scale(double scale) {
      attribute("scale", scale);
      return this;
    }

    /**
     * Sets scale.
     *
     * @param scale factor of the result; 1.0 unless set
     * @return this
     */
    public Elu scale(long scale) {
      attribute("scale", scale);
      return this;
    }

    /**
     * Sets inputScale.
     *
     * @param inputScale factor of self in the exponential; 1.0 unless set
     * @return this
     */
    public Elu inputScale(double inputScale) {
      attribute("input_scale", inputScale);
      return this;
    }

    /**
     * Sets inputScale.
     *
     * @param inputScale factor of self in the exponential; 1.0 unless set
     * @return this
     */
    public Elu inputScale(long inputScale) {
      attribute("input_scale", inputScale);
      return this;
    }
  }

  /**
   * Gradient of Elu, from its input or from its result.
   *
   * <pre>
   * With x = self_or_result: where x &gt; 0 grad_input = grad_output * scale. Elsewhere grad_input = grad_output * scale *
   *     alpha * input_scale * exp(input_scale * x), or with is_result grad_output * input_scale * (x + scale * alpha).
   * alpha &lt; 0 with is_result is an error. A NaN x gives NaN in every position of a tensor. alpha, scale and input_scale are
   *     taken as float32.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param selfOrResult the forward's input, or its result where is_result
   * @return the call
   */
  public static EluBackward eluBackward(Input gradOutput, Input selfOrResult) {
    EluBackward call = new EluBackward();
    call.input("grad_output", gradOutput);
    call.input("self_or_result", selfOrResult);
    return call;
  }

  /** A call of EluBackward. */
  public static final class EluBackward extends Call {
    private EluBackward() {
      super("EluBackward");
    }

    /**
     * Sets alpha.
     *
     * @param alpha what the result tends to below 0, before scale; its negative; 1.0 unless set
     * @return this
     */
    public EluBackward alpha(double alpha) {
      attribute("alpha", alpha);
      return this;
    }

    /**
     * Sets alpha.
     *
     * @param alpha what the result tends to below 0, before scale; its negative; 1.0 unless set
     * @return this
     */
    public EluBackward alpha(long alpha) {
      attribute("alpha", alpha);
      return this;
    }

    /**
     * Sets scale.
     *
     * @param scale factor of the result; 1.0 unless set
     * @return this
     */
    public EluBackward scale(double scale) {
      attribute("scale", scale);
      return this;
    }

    /**
     * Sets scale.
     *
     * @param scale factor of the result; 1.0 unless set
     * @return this
     */
    public EluBackward scale(long scale) {
      attribute("scale", scale);
      return this;
    }

    /**
     * Sets inputScale.
     *
     * @param inputScale factor of self in the exponential; 1.0 unless set
     * @return this
     */
    public EluBackward inputScale(double inputScale) {
      attribute("input_scale", inputScale);
      return this;
    }

    /**
     * Sets inputScale.
     *
     * @param inputScale factor of self in the exponential; 1.0 unless set
     * @return this
     */
    public EluBackward inputScale(long inputScale) {
      attribute("input_scale", inputScale);
      return this;
    }

    /**
     * Sets isResult.
     *
     * @param isResult whether self_or_result is the forward's result; false unless set
     * @return this
     */
    public EluBackward isResult(boolean isResult) {
      attribute("is_result", isResult);
      return this;
    }
  }

  /**
   * The rectified linear unit with a slope below 0.
   *
   * <pre>
   * out = self where self &gt; 0, negative_slope * self elsewhere
   * negative_slope is taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static LeakyRelu leakyRelu(Input self) {
    LeakyRelu call = new LeakyRelu();
    call.input("self", self);
    return call;
  }

  /** A call of LeakyRelu. */
  public static final class LeakyRelu extends Call {
    private LeakyRelu() {
      super("LeakyRelu");
    }

    /**
     * Sets negativeSlope.
     *
     * @param negativeSlope factor of what is not positive; 0.01 unless set
     * @return this
     */
    public LeakyRelu negativeSlope(double negativeSlope) {
      attribute("negative_slope", negativeSlope);
      return this;
    }

    /**
     * Sets negativeSlope.
     *
     * @param negativeSlope factor of what is not positive; 0.01 unless set
     * @return this
     */
    public LeakyRelu negativeSlope(long negativeSlope) {
      attribute("negative_slope", negativeSlope);
      return this;
    }
  }

  /**
   * Gradient of LeakyRelu.
   *
   * <pre>
   * out = grad_output where self &gt; 0, negative_slope * grad_output elsewhere
   * self may be the result of the forward, which has the same sign; a negative slope with self_is_result is an error.
   *     negative_slope is taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static LeakyReluBackward leakyReluBackward(Input gradOutput, Input self) {
    LeakyReluBackward call = new LeakyReluBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /** A call of LeakyReluBackward. */
  public static final class LeakyReluBackward extends Call {
    private LeakyReluBackward() {
      super("LeakyReluBackward");
    }

    /**
     * Sets negativeSlope.
     *
     * @param negativeSlope factor of what is not positive; 0.01 unless set
     * @return this
     */
    public LeakyReluBackward negativeSlope(double negativeSlope) {
      attribute("negative_slope", negativeSlope);
      return this;
    }

    /**
     * Sets negativeSlope.
     *
     * @param negativeSlope factor of what is not positive; 0.01 unless set
     * @return this
     */
    public LeakyReluBackward negativeSlope(long negativeSlope) {
      attribute("negative_slope", negativeSlope);
      return this;
    }

    /**
     * Sets selfIsResult.
     *
     * @param selfIsResult whether self is the forward's result; false unless set
     * @return this
     */
    public LeakyReluBackward selfIsResult(boolean selfIsResult) {
      attribute("self_is_result", selfIsResult);
      return this;
    }
  }

  /**
   * Elements above a threshold; a value in place of the others.
   *
   * <pre>
   * out = value where self &lt;= threshold, self elsewhere
   * A NaN passes. threshold and value are taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param threshold what an element must exceed to pass
   * @param value result of an element that does not
   * @return the call
   */
  public static Call threshold(Input self, double threshold, double value) {
    Call call = Call.of("Threshold");
    call.input("self", self);
    call.attribute("threshold", threshold);
    call.attribute("value", value);
    return call;
  }

  /**
   * The rectified linear unit.
   *
   * <pre>
   * out = 0 where self &lt;= 0, self elsewhere
   * A NaN passes.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call relu(Input self) {
    Call call = Call.of("Relu");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of Threshold and, with threshold 0, of Relu.
   *
   * <pre>
   * out = 0 where self &lt;= threshold, grad_output elsewhere
   * A NaN self lets the gradient pass. threshold is taken as float32. For Relu self may also be the result.
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @param threshold what an element must exceed to pass
   * @return the call
   */
  public static Call thresholdBackward(Input gradOutput, Input self, double threshold) {
    Call call = Call.of("ThresholdBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.attribute("threshold", threshold);
    return call;
  }

  /**
   * A smooth rectified linear unit.
   *
   * <pre>
   * out = self where beta * self &gt; threshold, log(1 + exp(beta * self)) / beta elsewhere
   * beta and threshold are taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Softplus softplus(Input self) {
    Softplus call = new Softplus();
    call.input("self", self);
    return call;
  }

  /** A call of Softplus. */
  public static final class Softplus extends Call {
    private Softplus() {
      super("Softplus");
    }

    /**
     * Sets beta.
     *
     * @param beta steepness of the bend; 1.0 unless set
     * @return this
     */
    public Softplus beta(double beta) {
      attribute("beta", beta);
      return this;
    }

    /**
     * Sets beta.
     *
     * @param beta steepness of the bend; 1.0 unless set
     * @return this
     */
    public Softplus beta(long beta) {
      attribute("beta", beta);
      return this;
    }

    /**
     * Sets threshold.
     *
     * @param threshold value of beta * self above which out = self; 20.0 unless set
     * @return this
     */
    public Softplus threshold(double threshold) {
      attribute("threshold", threshold);
      return this;
    }

    /**
     * Sets threshold.
     *
     * @param threshold value of beta * self above which out = self; 20.0 unless set
     * @return this
     */
    public Softplus threshold(long threshold) {
      attribute("threshold", threshold);
      return this;
    }
  }

  /**
   * Gradient of Softplus.
   *
   * <pre>
   * grad_input = grad_output where beta * self &gt; threshold, grad_output * sigmoid(beta * self) elsewhere
   * beta and threshold are taken as float32.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static SoftplusBackward softplusBackward(Input gradOutput, Input self) {
    SoftplusBackward call = new SoftplusBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /** A call of SoftplusBackward. */
  public static final class SoftplusBackward extends Call {
    private SoftplusBackward() {
      super("SoftplusBackward");
    }

    /**
     * Sets beta.
     *
     * @param beta steepness of the bend; 1.0 unless set
     * @return this
     */
    public SoftplusBackward beta(double beta) {
      attribute("beta", beta);
      return this;
    }

    /**
     * Sets beta.
     *
     * @param beta steepness of the bend; 1.0 unless set
     * @return this
     */
    public SoftplusBackward beta(long beta) {
      attribute("beta", beta);
      return this;
    }

    /**
     * Sets threshold.
     *
     * @param threshold value of beta * self above which out = self; 20.0 unless set
     * @return this
     */
    public SoftplusBackward threshold(double threshold) {
      attribute("threshold", threshold);
      return this;
    }

    /**
     * Sets threshold.
     *
     * @param threshold value of beta * self above which out = self; 20.0 unless set
     * @return this
     */
    public SoftplusBackward threshold(long threshold) {
      attribute("threshold", threshold);
      return this;
    }
  }

  /**
   * The input moved to zero, and zero near it.
   *
   * <pre>
   * out = 0 where |self| &lt;= lambd, self - lambd above, self + lambd below
   * lambd is taken as float32.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Softshrink softshrink(Input self) {
    Softshrink call = new Softshrink();
    call.input("self", self);
    return call;
  }

  /** A call of Softshrink. */
  public static final class Softshrink extends Call {
    private Softshrink() {
      super("Softshrink");
    }

    /**
     * Sets lambd.
     *
     * @param lambd half the width of the dead zone, and how far the rest is moved to 0; 0.5 unless set
     * @return this
     */
    public Softshrink lambd(double lambd) {
      attribute("lambd", lambd);
      return this;
    }

    /**
     * Sets lambd.
     *
     * @param lambd half the width of the dead zone, and how far the rest is moved to 0; 0.5 unless set
     * @return this
     */
    public Softshrink lambd(long lambd) {
      attribute("lambd", lambd);
      return this;
    }
  }

  /**
   * Gradient of Softshrink.
   *
   * <pre>
   * grad_input = 0 where |self| &lt;= lambd, grad_output elsewhere
   * A NaN self lets the gradient pass, in every position of a tensor. lambd is taken as float32.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static SoftshrinkBackward softshrinkBackward(Input gradOutput, Input self) {
    SoftshrinkBackward call = new SoftshrinkBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /** A call of SoftshrinkBackward. */
  public static final class SoftshrinkBackward extends Call {
    private SoftshrinkBackward() {
      super("SoftshrinkBackward");
    }

    /**
     * Sets lambd.
     *
     * @param lambd half the width of the dead zone, and how far the rest is moved to 0; 0.5 unless set
     * @return this
     */
    public SoftshrinkBackward lambd(double lambd) {
      attribute("lambd", lambd);
      return this;
    }

    /**
     * Sets lambd.
     *
     * @param lambd half the width of the dead zone, and how far the rest is moved to 0; 0.5 unless set
     * @return this
     */
    public SoftshrinkBackward lambd(long lambd) {
      attribute("lambd", lambd);
      return this;
    }
  }

  /**
   * The logarithm of the sigmoid of each element.
   *
   * <pre>
   * out = log(sigmoid(self))
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Call logSigmoid(Input self) {
    Call call = Call.of("LogSigmoid");
    call.input("self", self);
    return call;
  }

  /**
   * LogSigmoid, with what its gradient may reuse.
   *
   * <pre>
   * out = log(sigmoid(self))
   * buffer = exp(-|self|)
   * </pre>
   *
   * Outputs: {@code out}, the result; {@code buffer}, exp(-|self|), for LogSigmoidBackward.
   *
   * @param self the input
   * @return the call
   */
  public static Call logSigmoidForward(Input self) {
    Call call = Call.of("LogSigmoidForward");
    call.input("self", self);
    return call;
  }

  /**
   * Gradient of LogSigmoid.
   *
   * <pre>
   * grad_input = grad_output * sigmoid(-self)
   * buffer is not read: self says all. It may be left out, or have no elements.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static LogSigmoidBackward logSigmoidBackward(Input gradOutput, Input self) {
    LogSigmoidBackward call = new LogSigmoidBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    return call;
  }

  /** A call of LogSigmoidBackward. */
  public static final class LogSigmoidBackward extends Call {
    private LogSigmoidBackward() {
      super("LogSigmoidBackward");
    }

    /**
     * Sets buffer.
     *
     * @param buffer what LogSigmoidForward kept; not read
     * @return this
     */
    public LogSigmoidBackward buffer(Input buffer) {
      input("buffer", buffer);
      return this;
    }
  }

  /**
   * The rectified linear unit with a slope below 0 that is learned.
   *
   * <pre>
   * out = self where self &gt; 0, weight * self elsewhere
   * Channels are the elements of dimension 1.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param weight factor of negative elements, one for all or one for each channel
   * @return the call
   */
  public static Call prelu(Input self, Input weight) {
    Call call = Call.of("Prelu");
    call.input("self", self);
    call.input("weight", weight);
    return call;
  }

  /**
   * Gradients of Prelu with respect to its input and its weight.
   *
   * <pre>
   * grad_input = grad_output where self &gt; 0, weight * grad_output elsewhere
   * grad_weight = sum of grad_output * self where self is not &gt; 0, over all elements, or over those of each channel. Without
   *     elements it is 0.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self; {@code grad_weight}, gradient of weight.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @param weight the forward's weight
   * @return the call
   */
  public static Call preluBackward(Input gradOutput, Input self, Input weight) {
    Call call = Call.of("PreluBackward");
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("weight", weight);
    return call;
  }
}
