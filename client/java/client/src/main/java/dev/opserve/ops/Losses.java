// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Losses: a function for each operator. What is not required is set on what it returns. */
public final class Losses {
  private Losses() {}

  /**
   * Mean absolute error of self against target.
   *
   * <pre>
   * loss = |self - target|
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   * Integers and bools are taken only beside a floating input.
   * </pre>
   *
   * Outputs: {@code out}, the loss.
   *
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static L1Loss l1Loss(Input self, Input target) {
    L1Loss call = new L1Loss();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of L1Loss. */
  public static final class L1Loss extends Call {
    private L1Loss() {
      super("L1Loss");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public L1Loss reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Gradient of L1Loss with respect to self.
   *
   * <pre>
   * grad_input = sign(self - target) * (grad_output * k)
   * sign(0) = 0 and sign(NaN) = 0. k = 1/n for reduction mean, n the number of elements of grad_input; k = 1 for none and sum.
   * Unlike PyTorch, n counts the elements after broadcasting.
   * Integers and bools are taken only beside a floating input.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self.
   *
   * @param gradOutput gradient of the loss's result; a scalar for mean and sum
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static L1LossBackward l1LossBackward(Input gradOutput, Input self, Input target) {
    L1LossBackward call = new L1LossBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of L1LossBackward. */
  public static final class L1LossBackward extends Call {
    private L1LossBackward() {
      super("L1LossBackward");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public L1LossBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Huber-like loss: quadratic near zero, linear beyond beta.
   *
   * <pre>
   * x = self - target
   * loss = 0.5 * x * x / beta where |x| &lt; beta, |x| - 0.5 * beta elsewhere
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0. beta
   *     = 0 is L1Loss.
   * </pre>
   *
   * Outputs: {@code result}, the loss.
   *
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static SmoothL1Loss smoothL1Loss(Input self, Input target) {
    SmoothL1Loss call = new SmoothL1Loss();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of SmoothL1Loss. */
  public static final class SmoothL1Loss extends Call {
    private SmoothL1Loss() {
      super("SmoothL1Loss");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public SmoothL1Loss reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets beta.
     *
     * @param beta where the loss turns from quadratic to linear; may be infinite; 1.0 unless set
     * @return this
     */
    public SmoothL1Loss beta(double beta) {
      attribute("beta", beta);
      return this;
    }
  }

  /**
   * Gradient of SmoothL1Loss with respect to self.
   *
   * <pre>
   * x = self - target
   * grad_input = s * (grad_out * k), s = -1 where x &lt;= -beta, +1 where x &gt;= beta, x / beta between
   * k = 1/n for reduction mean, n the number of elements of grad_input; k = 1 for none and sum. A NaN x gives NaN.
   * beta = 0 is exactly L1LossBackward: sign(0) = sign(NaN) = 0, where PyTorch gives -grad and NaN. Unlike PyTorch, n counts
   *     the elements after broadcasting.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of self.
   *
   * @param gradOut gradient of the loss's result; a scalar for mean and sum
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static SmoothL1LossBackward smoothL1LossBackward(Input gradOut, Input self, Input target) {
    SmoothL1LossBackward call = new SmoothL1LossBackward();
    call.input("grad_out", gradOut);
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of SmoothL1LossBackward. */
  public static final class SmoothL1LossBackward extends Call {
    private SmoothL1LossBackward() {
      super("SmoothL1LossBackward");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public SmoothL1LossBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets beta.
     *
     * @param beta where the loss turns from quadratic to linear; may be infinite; 1.0 unless set
     * @return this
     */
    public SmoothL1LossBackward beta(double beta) {
      attribute("beta", beta);
      return this;
    }
  }

  /**
   * Mean squared error of self against target.
   *
   * <pre>
   * loss = (self - target)^2
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   * </pre>
   *
   * Outputs: {@code out}, the loss.
   *
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static MseLoss mseLoss(Input self, Input target) {
    MseLoss call = new MseLoss();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of MseLoss. */
  public static final class MseLoss extends Call {
    private MseLoss() {
      super("MseLoss");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public MseLoss reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Gradient of MseLoss with respect to self.
   *
   * <pre>
   * out = 2 * (self - target) * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   * </pre>
   *
   * Outputs: {@code out}, gradient of self.
   *
   * @param gradOutput gradient of the loss's result; a scalar unless the reduction is none
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static MseLossBackward mseLossBackward(Input gradOutput, Input self, Input target) {
    MseLossBackward call = new MseLossBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of MseLossBackward. */
  public static final class MseLossBackward extends Call {
    private MseLossBackward() {
      super("MseLossBackward");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public MseLossBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Kullback-Leibler divergence of target from a prediction that is a logarithm.
   *
   * <pre>
   * loss = target * (log(target) - self), 0 where target = 0; with log_target exp(target) * (target - self)
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   *     batchmean gives their sum over the first extent; of a scalar it is the sum.
   * An output that is given for a reduced result may have shape [1], too.
   * </pre>
   *
   * Outputs: {@code out}, the loss.
   *
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static KlDiv klDiv(Input self, Input target) {
    KlDiv call = new KlDiv();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of KlDiv. */
  public static final class KlDiv extends Call {
    private KlDiv() {
      super("KlDiv");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM, BATCHMEAN; MEAN unless set
     * @return this
     */
    public KlDiv reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets logTarget.
     *
     * @param logTarget whether target is given as its logarithm; false unless set
     * @return this
     */
    public KlDiv logTarget(boolean logTarget) {
      attribute("log_target", logTarget);
      return this;
    }
  }

  /**
   * Gradient of KlDiv with respect to self.
   *
   * <pre>
   * out = -target * (grad_output * k); with log_target -exp(target) * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum. For batchmean n is the first
   *     extent of the result.
   * </pre>
   *
   * Outputs: {@code out}, gradient of self.
   *
   * @param gradOutput gradient of the loss's result; a scalar unless the reduction is none
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static KlDivBackward klDivBackward(Input gradOutput, Input self, Input target) {
    KlDivBackward call = new KlDivBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of KlDivBackward. */
  public static final class KlDivBackward extends Call {
    private KlDivBackward() {
      super("KlDivBackward");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM, BATCHMEAN; MEAN unless set
     * @return this
     */
    public KlDivBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets logTarget.
     *
     * @param logTarget whether target is given as its logarithm; false unless set
     * @return this
     */
    public KlDivBackward logTarget(boolean logTarget) {
      attribute("log_target", logTarget);
      return this;
    }
  }

  /**
   * Logistic loss of self against a target of -1 or 1.
   *
   * <pre>
   * loss = log(1 + exp(-target * self))
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   * </pre>
   *
   * Outputs: {@code out}, the loss.
   *
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static SoftMarginLoss softMarginLoss(Input self, Input target) {
    SoftMarginLoss call = new SoftMarginLoss();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of SoftMarginLoss. */
  public static final class SoftMarginLoss extends Call {
    private SoftMarginLoss() {
      super("SoftMarginLoss");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public SoftMarginLoss reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Gradient of SoftMarginLoss with respect to self.
   *
   * <pre>
   * out = -target * sigmoid(-target * self) * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   * </pre>
   *
   * Outputs: {@code out}, gradient of self.
   *
   * @param gradOutput gradient of the loss's result; a scalar unless the reduction is none
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static SoftMarginLossBackward softMarginLossBackward(Input gradOutput, Input self, Input target) {
    SoftMarginLossBackward call = new SoftMarginLossBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of SoftMarginLossBackward. */
  public static final class SoftMarginLossBackward extends Call {
    private SoftMarginLossBackward() {
      super("SoftMarginLossBackward");
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public SoftMarginLossBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Cross entropy of a probability against a target in [0, 1].
   *
   * <pre>
   * loss = -weight * (target * log(self) + (1 - target) * log(1 - self))
   * Each logarithm counts as -100 where it is less. A self outside [0, 1] gives NaN, where PyTorch fails.
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   * </pre>
   *
   * Outputs: {@code out}, the loss.
   *
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static BinaryCrossEntropy binaryCrossEntropy(Input self, Input target) {
    BinaryCrossEntropy call = new BinaryCrossEntropy();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of BinaryCrossEntropy. */
  public static final class BinaryCrossEntropy extends Call {
    private BinaryCrossEntropy() {
      super("BinaryCrossEntropy");
    }

    /**
     * Sets weight.
     *
     * @param weight factor of the loss of each element; 1 when not given
     * @return this
     */
    public BinaryCrossEntropy weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public BinaryCrossEntropy reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Gradient of BinaryCrossEntropy with respect to self.
   *
   * <pre>
   * out = (self - target) / max((1 - self) * self, 1e-12) * weight * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   * </pre>
   *
   * Outputs: {@code out}, gradient of self.
   *
   * @param gradOutput gradient of the loss's result; a scalar unless the reduction is none
   * @param self the prediction
   * @param target the truth
   * @return the call
   */
  public static BinaryCrossEntropyBackward binaryCrossEntropyBackward(Input gradOutput, Input self, Input target) {
    BinaryCrossEntropyBackward call = new BinaryCrossEntropyBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of BinaryCrossEntropyBackward. */
  public static final class BinaryCrossEntropyBackward extends Call {
    private BinaryCrossEntropyBackward() {
      super("BinaryCrossEntropyBackward");
    }

    /**
     * Sets weight.
     *
     * @param weight factor of the loss of each element; 1 when not given
     * @return this
     */
    public BinaryCrossEntropyBackward weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public BinaryCrossEntropyBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Cross entropy of the sigmoid of self against a target in [0, 1].
   *
   * <pre>
   * loss = weight * ((1 - target) * self + (pos_weight * target + 1 - target) * log(1 + exp(-self)))
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   * </pre>
   *
   * Outputs: {@code out}, the loss.
   *
   * @param self the logits
   * @param target the truth
   * @return the call
   */
  public static BinaryCrossEntropyWithLogits binaryCrossEntropyWithLogits(Input self, Input target) {
    BinaryCrossEntropyWithLogits call = new BinaryCrossEntropyWithLogits();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of BinaryCrossEntropyWithLogits. */
  public static final class BinaryCrossEntropyWithLogits extends Call {
    private BinaryCrossEntropyWithLogits() {
      super("BinaryCrossEntropyWithLogits");
    }

    /**
     * Sets weight.
     *
     * @param weight factor of the loss of each element; 1 when not given
     * @return this
     */
    public BinaryCrossEntropyWithLogits weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets posWeight.
     *
     * @param posWeight factor of what a positive target adds; 1 when not given
     * @return this
     */
    public BinaryCrossEntropyWithLogits posWeight(Input posWeight) {
      input("pos_weight", posWeight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public BinaryCrossEntropyWithLogits reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Gradient of BinaryCrossEntropyWithLogits with respect to self.
   *
   * <pre>
   * out = ((pos_weight * target + 1 - target) * sigmoid(self) - pos_weight * target) * weight * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   * </pre>
   *
   * Outputs: {@code out}, gradient of self.
   *
   * @param gradOutput gradient of the loss's result; a scalar unless the reduction is none
   * @param self the logits
   * @param target the truth
   * @return the call
   */
  public static BinaryCrossEntropyWithLogitsBackward binaryCrossEntropyWithLogitsBackward(
      Input gradOutput, Input self, Input target) {
    BinaryCrossEntropyWithLogitsBackward call = new BinaryCrossEntropyWithLogitsBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of BinaryCrossEntropyWithLogitsBackward. */
  public static final class BinaryCrossEntropyWithLogitsBackward extends Call {
    private BinaryCrossEntropyWithLogitsBackward() {
      super("BinaryCrossEntropyWithLogitsBackward");
    }

    /**
     * Sets weight.
     *
     * @param weight factor of the loss of each element; 1 when not given
     * @return this
     */
    public BinaryCrossEntropyWithLogitsBackward weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets posWeight.
     *
     * @param posWeight factor of what a positive target adds; 1 when not given
     * @return this
     */
    public BinaryCrossEntropyWithLogitsBackward posWeight(Input posWeight) {
      input("pos_weight", posWeight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public BinaryCrossEntropyWithLogitsBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Gradient of BinaryCrossEntropyWithLogits with respect to target.
   *
   * <pre>
   * grad_target = ((pos_weight - 1) * log(1 + exp(-self)) - self) * weight * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   * target itself decides nothing but the shape.
   * </pre>
   *
   * Outputs: {@code grad_target}, gradient of target.
   *
   * @param gradOutput gradient of the loss's result; a scalar unless the reduction is none
   * @param self the logits
   * @param target the truth
   * @return the call
   */
  public static BinaryCrossEntropyWithLogitsTargetBackward binaryCrossEntropyWithLogitsTargetBackward(
      Input gradOutput, Input self, Input target) {
    BinaryCrossEntropyWithLogitsTargetBackward call = new BinaryCrossEntropyWithLogitsTargetBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of BinaryCrossEntropyWithLogitsTargetBackward. */
  public static final class BinaryCrossEntropyWithLogitsTargetBackward extends Call {
    private BinaryCrossEntropyWithLogitsTargetBackward() {
      super("BinaryCrossEntropyWithLogitsTargetBackward");
    }

    /**
     * Sets weight.
     *
     * @param weight factor of the loss of each element; 1 when not given
     * @return this
     */
    public BinaryCrossEntropyWithLogitsTargetBackward weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets posWeight.
     *
     * @param posWeight factor of what a positive target adds; 1 when not given
     * @return this
     */
    public BinaryCrossEntropyWithLogitsTargetBackward posWeight(Input posWeight) {
      input("pos_weight", posWeight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public BinaryCrossEntropyWithLogitsTargetBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }
  }

  /**
   * Negative log likelihood of the classes in target.
   *
   * <pre>
   * loss = -weight[t] * self[t] of each sample, t its class in target; 0 where t is ignore_index
   * reduction none gives the loss of each sample, sum their sum, mean their sum over the sum of their weights: NaN where no
   *     target counts. total_weight is that sum, and 0 for reduction none.
   * A target that is no class and not ignore_index is an error, and nothing is written.
   * </pre>
   *
   * Outputs: {@code out}, the loss; {@code total_weight}, sum of the weights of the targets; 0 for reduction none.
   *
   * @param self logarithms of the probabilities of the classes
   * @param target the class of each sample, in [0, C), or ignore_index
   * @return the call
   */
  public static NLLLoss nLLLoss(Input self, Input target) {
    NLLLoss call = new NLLLoss();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of NLLLoss. */
  public static final class NLLLoss extends Call {
    private NLLLoss() {
      super("NLLLoss");
    }

    /**
     * Sets weight.
     *
     * @param weight weight of each class; 1 when not given
     * @return this
     */
    public NLLLoss weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public NLLLoss reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets ignoreIndex.
     *
     * @param ignoreIndex the class of targets that do not count; -100 unless set
     * @return this
     */
    public NLLLoss ignoreIndex(long ignoreIndex) {
      attribute("ignore_index", ignoreIndex);
      return this;
    }
  }

  /**
   * Gradient of NLLLoss with respect to self.
   *
   * <pre>
   * out[t] = -weight[t] * grad_output of each sample, t its class in target, divided by total_weight for reduction mean; 0 of
   *     all other classes, and where t is ignore_index
   * A target that is no class and not ignore_index is an error, and nothing is written.
   * </pre>
   *
   * Outputs: {@code out}, gradient of self.
   *
   * @param gradOutput gradient of out
   * @param self logarithms of the probabilities of the classes
   * @param target the class of each sample, in [0, C), or ignore_index
   * @param totalWeight the forward's total_weight
   * @return the call
   */
  public static NLLLossBackward nLLLossBackward(Input gradOutput, Input self, Input target, Input totalWeight) {
    NLLLossBackward call = new NLLLossBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("target", target);
    call.input("total_weight", totalWeight);
    return call;
  }

  /** A call of NLLLossBackward. */
  public static final class NLLLossBackward extends Call {
    private NLLLossBackward() {
      super("NLLLossBackward");
    }

    /**
     * Sets weight.
     *
     * @param weight weight of each class; 1 when not given
     * @return this
     */
    public NLLLossBackward weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public NLLLossBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets ignoreIndex.
     *
     * @param ignoreIndex the class of targets that do not count; -100 unless set
     * @return this
     */
    public NLLLossBackward ignoreIndex(long ignoreIndex) {
      attribute("ignore_index", ignoreIndex);
      return this;
    }
  }

  /**
   * Negative log likelihood of the class of each pixel.
   *
   * <pre>
   * loss = -weight[t] * self[t] of each sample, t its class in target; 0 where t is ignore_index
   * reduction none gives the loss of each sample, sum their sum, mean their sum over the sum of their weights: NaN where no
   *     target counts. total_weight is that sum, and 0 for reduction none.
   * A target that is no class and not ignore_index is an error, and nothing is written.
   * </pre>
   *
   * Outputs: {@code out}, the loss; {@code total_weight}, sum of the weights of the targets; 0 for reduction none.
   *
   * @param self logarithms of the probabilities of the classes
   * @param target the class of each sample, in [0, C), or ignore_index
   * @return the call
   */
  public static NLLLoss2d nLLLoss2d(Input self, Input target) {
    NLLLoss2d call = new NLLLoss2d();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of NLLLoss2d. */
  public static final class NLLLoss2d extends Call {
    private NLLLoss2d() {
      super("NLLLoss2d");
    }

    /**
     * Sets weight.
     *
     * @param weight weight of each class; 1 when not given
     * @return this
     */
    public NLLLoss2d weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public NLLLoss2d reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets ignoreIndex.
     *
     * @param ignoreIndex the class of targets that do not count; -100 unless set
     * @return this
     */
    public NLLLoss2d ignoreIndex(long ignoreIndex) {
      attribute("ignore_index", ignoreIndex);
      return this;
    }
  }

  /**
   * Gradient of NLLLoss2d with respect to self.
   *
   * <pre>
   * out[t] = -weight[t] * grad_output of each sample, t its class in target, divided by total_weight for reduction mean; 0 of
   *     all other classes, and where t is ignore_index
   * A target that is no class and not ignore_index is an error, and nothing is written.
   * </pre>
   *
   * Outputs: {@code out}, gradient of self.
   *
   * @param gradOutput gradient of out
   * @param self logarithms of the probabilities of the classes
   * @param target the class of each sample, in [0, C), or ignore_index
   * @param totalWeight the forward's total_weight
   * @return the call
   */
  public static NLLLoss2dBackward nLLLoss2dBackward(Input gradOutput, Input self, Input target, Input totalWeight) {
    NLLLoss2dBackward call = new NLLLoss2dBackward();
    call.input("grad_output", gradOutput);
    call.input("self", self);
    call.input("target", target);
    call.input("total_weight", totalWeight);
    return call;
  }

  /** A call of NLLLoss2dBackward. */
  public static final class NLLLoss2dBackward extends Call {
    private NLLLoss2dBackward() {
      super("NLLLoss2dBackward");
    }

    /**
     * Sets weight.
     *
     * @param weight weight of each class; 1 when not given
     * @return this
     */
    public NLLLoss2dBackward weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public NLLLoss2dBackward reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets ignoreIndex.
     *
     * @param ignoreIndex the class of targets that do not count; -100 unless set
     * @return this
     */
    public NLLLoss2dBackward ignoreIndex(long ignoreIndex) {
      attribute("ignore_index", ignoreIndex);
      return this;
    }
  }

  /**
   * Cross entropy of classes and what a model says of each.
   *
   * <pre>
   * log_prob = LogSoftmax(self) along C
   * loss = -(1 - e) * weight[t] * log_prob[t] - e / C * sum of weight * log_prob over C, of each sample, t its class in target
   *     and e label_smoothing; 0 where t is ignore_index
   * reduction none gives the loss of each sample, sum their sum, mean their sum over the sum of weight[t]: NaN where no target
   *     counts.
   * A target that is no class and not ignore_index is an error, and nothing is written. There is no z-loss, whose arguments and
   *     results must be left out.
   * </pre>
   *
   * Outputs: {@code loss}, the loss; {@code log_prob}, logarithms of the probabilities of the classes; {@code zloss}, not
   * computed; {@code lse_for_zloss}, not computed.
   *
   * @param self a number of each class of each sample
   * @param target the class of each sample, in [0, C), or ignore_index
   * @return the call
   */
  public static CrossEntropyLoss crossEntropyLoss(Input self, Input target) {
    CrossEntropyLoss call = new CrossEntropyLoss();
    call.input("self", self);
    call.input("target", target);
    return call;
  }

  /** A call of CrossEntropyLoss. */
  public static final class CrossEntropyLoss extends Call {
    private CrossEntropyLoss() {
      super("CrossEntropyLoss");
    }

    /**
     * Sets weight.
     *
     * @param weight weight of each class; 1 when not given
     * @return this
     */
    public CrossEntropyLoss weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public CrossEntropyLoss reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets ignoreIndex.
     *
     * @param ignoreIndex the class of targets that do not count; -100 unless set
     * @return this
     */
    public CrossEntropyLoss ignoreIndex(long ignoreIndex) {
      attribute("ignore_index", ignoreIndex);
      return this;
    }

    /**
     * Sets labelSmoothing.
     *
     * @param labelSmoothing the share of a sample's weight that all classes have alike; 0.0 unless set
     * @return this
     */
    public CrossEntropyLoss labelSmoothing(double labelSmoothing) {
      attribute("label_smoothing", labelSmoothing);
      return this;
    }

    /**
     * Sets lseSquareScaleForZloss.
     *
     * @param lseSquareScaleForZloss must be 0: there is no z-loss; 0.0 unless set
     * @return this
     */
    public CrossEntropyLoss lseSquareScaleForZloss(double lseSquareScaleForZloss) {
      attribute("lse_square_scale_for_zloss", lseSquareScaleForZloss);
      return this;
    }

    /**
     * Sets returnZloss.
     *
     * @param returnZloss must be false: there is no z-loss; false unless set
     * @return this
     */
    public CrossEntropyLoss returnZloss(boolean returnZloss) {
      attribute("return_zloss", returnZloss);
      return this;
    }
  }

  /**
   * Gradient of CrossEntropyLoss with respect to self.
   *
   * <pre>
   * out = k * (exp(log_prob) * ((1 - e) * weight[t] + e / C * sum of weight) - e / C * weight), less k * (1 - e) * weight[t] at
   *     t, of each sample, t its class in target and e label_smoothing; 0 where t is ignore_index
   * k = grad_loss, for reduction mean divided by the sum of weight[t] over the samples that count.
   * A target that is no class and not ignore_index is an error, and nothing is written.
   * </pre>
   *
   * Outputs: {@code out}, gradient of self.
   *
   * @param gradLoss gradient of loss
   * @param logProb the forward's log_prob
   * @param target the class of each sample, in [0, C), or ignore_index
   * @return the call
   */
  public static CrossEntropyLossGrad crossEntropyLossGrad(Input gradLoss, Input logProb, Input target) {
    CrossEntropyLossGrad call = new CrossEntropyLossGrad();
    call.input("grad_loss", gradLoss);
    call.input("log_prob", logProb);
    call.input("target", target);
    return call;
  }

  /** A call of CrossEntropyLossGrad. */
  public static final class CrossEntropyLossGrad extends Call {
    private CrossEntropyLossGrad() {
      super("CrossEntropyLossGrad");
    }

    /**
     * Sets weight.
     *
     * @param weight weight of each class; 1 when not given
     * @return this
     */
    public CrossEntropyLossGrad weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets gradZloss.
     *
     * @param gradZloss must be left out: there is no z-loss
     * @return this
     */
    public CrossEntropyLossGrad gradZloss(Input gradZloss) {
      input("grad_zloss", gradZloss);
      return this;
    }

    /**
     * Sets lseForZloss.
     *
     * @param lseForZloss must be left out: there is no z-loss
     * @return this
     */
    public CrossEntropyLossGrad lseForZloss(Input lseForZloss) {
      input("lse_for_zloss", lseForZloss);
      return this;
    }

    /**
     * Sets reduction.
     *
     * @param reduction what is made of the losses of the elements: NONE, MEAN, SUM; MEAN unless set
     * @return this
     */
    public CrossEntropyLossGrad reduction(Reduction reduction) {
      attribute("reduction", reduction.choice());
      return this;
    }

    /**
     * Sets ignoreIndex.
     *
     * @param ignoreIndex the class of targets that do not count; -100 unless set
     * @return this
     */
    public CrossEntropyLossGrad ignoreIndex(long ignoreIndex) {
      attribute("ignore_index", ignoreIndex);
      return this;
    }

    /**
     * Sets labelSmoothing.
     *
     * @param labelSmoothing the share of a sample's weight that all classes have alike; 0.0 unless set
     * @return this
     */
    public CrossEntropyLossGrad labelSmoothing(double labelSmoothing) {
      attribute("label_smoothing", labelSmoothing);
      return this;
    }

    /**
     * Sets lseSquareScaleForZloss.
     *
     * @param lseSquareScaleForZloss must be 0: there is no z-loss; 0.0 unless set
     * @return this
     */
    public CrossEntropyLossGrad lseSquareScaleForZloss(double lseSquareScaleForZloss) {
      attribute("lse_square_scale_for_zloss", lseSquareScaleForZloss);
      return this;
    }
  }

  /**
   * Connectionist temporal classification loss: how unlikely the labels are, over all alignments.
   *
   * <pre>
   * l' is a sample's labels with blanks between and around. log_alpha[n][t][s] is the logarithm of the probability of all
   *     alignments of l'_0 to l'_s with the first t + 1 steps; -inf for s beyond l' and t beyond the sample's steps.
   * neg_log_likelihood = -logsumexp(log_alpha of the last two s at the last step); without steps 0 when there are no labels,
   *     else +inf. It stays +inf under zero_infinity, where PyTorch's module would put 0.
   * Every profile but host wants N &gt; 0.
   * </pre>
   *
   * Outputs: {@code neg_log_likelihood}, the loss of each sample; {@code log_alpha}, forward variables in log space.
   *
   * @param logProbs logarithms of the probabilities of the classes
   * @param targets labels in [0, C), whole numbers
   * @param inputLengths time steps of each sample, at most T
   * @param targetLengths labels of each sample
   * @return the call
   */
  public static CtcLoss ctcLoss(Input logProbs, Input targets, long[] inputLengths, long[] targetLengths) {
    CtcLoss call = new CtcLoss();
    call.input("log_probs", logProbs);
    call.input("targets", targets);
    call.attribute("input_lengths", inputLengths);
    call.attribute("target_lengths", targetLengths);
    return call;
  }

  /** A call of CtcLoss. */
  public static final class CtcLoss extends Call {
    private CtcLoss() {
      super("CtcLoss");
    }

    /**
     * Sets blank.
     *
     * @param blank the class that stands for no label, below C; 0 unless set
     * @return this
     */
    public CtcLoss blank(long blank) {
      attribute("blank", blank);
      return this;
    }

    /**
     * Sets zeroInfinity.
     *
     * @param zeroInfinity whether samples of infinite loss have gradient 0, not NaN; false unless set
     * @return this
     */
    public CtcLoss zeroInfinity(boolean zeroInfinity) {
      attribute("zero_infinity", zeroInfinity);
      return this;
    }
  }

  /**
   * Gradient of CtcLoss with respect to the logits before log_softmax.
   *
   * <pre>
   * beta[t][s] is the backward recursion in log space over the labels with blanks between and around; res[t][c] is the
   *     logsumexp of log_alpha + beta over the s whose label is c.
   * grad = (exp(log_probs) - exp(res + neg_log_likelihood - log_probs)) * grad_out for the steps of a sample, 0 beyond.
   *     log_alpha and neg_log_likelihood are taken as given.
   * A sample of infinite loss has gradient 0 with zero_infinity, else NaN. log_probs = -inf gives NaN at its class. A label
   *     equal to blank counts as any other, where PyTorch forgets a term at the last step.
   * Every profile but host wants N &gt; 0.
   * </pre>
   *
   * Outputs: {@code grad}, gradient of the logits from which log_softmax makes log_probs.
   *
   * @param gradOut gradient of each sample's loss
   * @param logProbs logarithms of the probabilities of the classes
   * @param targets labels in [0, C), whole numbers
   * @param negLogLikelihood the loss of each sample
   * @param logAlpha forward variables in log space
   * @param inputLengths time steps of each sample, at most T
   * @param targetLengths labels of each sample
   * @return the call
   */
  public static CtcLossBackward ctcLossBackward(
      Input gradOut, Input logProbs, Input targets, Input negLogLikelihood, Input logAlpha, long[] inputLengths,
      long[] targetLengths) {
    CtcLossBackward call = new CtcLossBackward();
    call.input("grad_out", gradOut);
    call.input("log_probs", logProbs);
    call.input("targets", targets);
    call.input("neg_log_likelihood", negLogLikelihood);
    call.input("log_alpha", logAlpha);
    call.attribute("input_lengths", inputLengths);
    call.attribute("target_lengths", targetLengths);
    return call;
  }

  /** A call of CtcLossBackward. */
  public static final class CtcLossBackward extends Call {
    private CtcLossBackward() {
      super("CtcLossBackward");
    }

    /**
     * Sets blank.
     *
     * @param blank the class that stands for no label, below C; 0 unless set
     * @return this
     */
    public CtcLossBackward blank(long blank) {
      attribute("blank", blank);
      return this;
    }

    /**
     * Sets zeroInfinity.
     *
     * @param zeroInfinity whether samples of infinite loss have gradient 0, not NaN; false unless set
     * @return this
     */
    public CtcLossBackward zeroInfinity(boolean zeroInfinity) {
      attribute("zero_infinity", zeroInfinity);
      return this;
    }
  }
}
