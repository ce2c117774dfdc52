// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Gates: a function for each operator. What is not required is set on what it returns. */
public final class Gates {
  private Gates() {}

  /**
   * The gated linear unit: one half of a tensor times the sigmoid of the other.
   *
   * <pre>
   * a and b are the first and the second half of self along dim.
   * out = a * sigmoid(b)
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @return the call
   */
  public static Glu glu(Input self) {
    Glu call = new Glu();
    call.input("self", self);
    return call;
  }

  /** A call of Glu. */
  public static final class Glu extends Call {
    private Glu() {
      super("Glu");
    }

    /**
     * Sets dim.
     *
     * @param dim the dimension that is cut into halves; a negative one counts from the last; -1 unless set
     * @return this
     */
    public Glu dim(long dim) {
      attribute("dim", dim);
      return this;
    }
  }

  /**
   * Gradient of Glu.
   *
   * <pre>
   * a and b are the first and the second half of self along dim, s = sigmoid(b).
   * The first half of out is grad_out * s, the second grad_out * a * s * (1 - s).
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param gradOut gradient of the forward's result
   * @param self the forward's input
   * @return the call
   */
  public static GluBackward gluBackward(Input gradOut, Input self) {
    GluBackward call = new GluBackward();
    call.input("grad_out", gradOut);
    call.input("self", self);
    return call;
  }

  /** A call of GluBackward. */
  public static final class GluBackward extends Call {
    private GluBackward() {
      super("GluBackward");
    }

    /**
     * Sets dim.
     *
     * @param dim the dimension that is cut into halves; a negative one counts from the last; -1 unless set
     * @return this
     */
    public GluBackward dim(long dim) {
      attribute("dim", dim);
      return this;
    }
  }

  /**
   * One half of a tensor times the Gaussian error linear unit of the other.
   *
   * <pre>
   * a and b are the first and the second half of self along dim.
   * out_gelu = gelu(b), as GeluV2 computes it with the same approximate
   * out = a * gelu(b), of which out_gelu's rounding is no part
   * </pre>
   *
   * Outputs: {@code out}, the result; {@code out_gelu}, gelu of the second half, for GeGluBackward.
   *
   * @param self the input
   * @return the call
   */
  public static GeGlu geGlu(Input self) {
    GeGlu call = new GeGlu();
    call.input("self", self);
    return call;
  }

  /** A call of GeGlu. */
  public static final class GeGlu extends Call {
    private GeGlu() {
      super("GeGlu");
    }

    /**
     * Sets dim.
     *
     * @param dim the dimension that is cut into halves; a negative one counts from the last; -1 unless set
     * @return this
     */
    public GeGlu dim(long dim) {
      attribute("dim", dim);
      return this;
    }

    /**
     * Sets approximate.
     *
     * @param approximate how gelu is computed: NONE, TANH; TANH unless set
     * @return this
     */
    public GeGlu approximate(Approximate approximate) {
      attribute("approximate", approximate.choice());
      return this;
    }
  }

  /**
   * Gradient of GeGlu.
   *
   * <pre>
   * a and b are the first and the second half of self along dim.
   * The first half of grad_input is grad_output * gelu, gelu taken as given; the second is grad_output * a times the derivative
   *     of gelu at b.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOutput gradient of the forward's result
   * @param self the forward's input
   * @param gelu out_gelu of the forward
   * @return the call
   */
  public static GeGluBackward geGluBackward(Input gradOutput, Input self, Input gelu) {
    GeGluBackward call = new GeGluBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("gelu", gelu);
    return call;
  }

  /** A call of GeGluBackward. */
  public static final class GeGluBackward extends Call {
    private GeGluBackward() {
      super("GeGluBackward");
    }

    /**
     * Sets dim.
     *
     * @param dim the dimension that is cut into halves; a negative one counts from the last; -1 unless set
     * @return this
     */
    public GeGluBackward dim(long dim) {
      attribute("dim", dim);
      return this;
    }

    /**
     * Sets approximate.
     *
     * @param approximate how gelu is computed: NONE, TANH; TANH unless set
     * @return this
     */
    public GeGluBackward approximate(Approximate approximate) {
      attribute("approximate", approximate.choice());
      return this;
    }
  }

  /**
   * The sigmoid linear unit of one half of a tensor times the other half.
   *
   * <pre>
   * a and b are the first and the second half of x along dim.
   * out = a * sigmoid(a) * b
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param x the input
   * @return the call
   */
  public static SwiGlu swiGlu(Input x) {
    SwiGlu call = new SwiGlu();
    call.input("x", x);
    return call;
  }

  /** A call of SwiGlu. */
  public static final class SwiGlu extends Call {
    private SwiGlu() {
      super("SwiGlu");
    }

    /**
     * Sets dim.
     *
     * @param dim the dimension that is cut into halves; a negative one counts from the last; -1 unless set
     * @return this
     */
    public SwiGlu dim(long dim) {
      attribute("dim", dim);
      return this;
    }
  }

  /**
   * Gradient of SwiGlu.
   *
   * <pre>
   * a and b are the first and the second half of x along dim, s = sigmoid(a).
   * The first half of out is y_grad * b * (s + a * s * (1 - s)), the second y_grad * a * s.
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param yGrad gradient of the forward's result
   * @param x the forward's input
   * @return the call
   */
  public static SwiGluGrad swiGluGrad(Input yGrad, Input x) {
    SwiGluGrad call = new SwiGluGrad();
    call.input("y_grad", yGrad);
    call.input("x", x);
    return call;
  }

  /** A call of SwiGluGrad. */
  public static final class SwiGluGrad extends Call {
    private SwiGluGrad() {
      super("SwiGluGrad");
    }

    /**
     * Sets dim.
     *
     * @param dim the dimension that is cut into halves; a negative one counts from the last; -1 unless set
     * @return this
     */
    public SwiGluGrad dim(long dim) {
      attribute("dim", dim);
      return this;
    }
  }
}
