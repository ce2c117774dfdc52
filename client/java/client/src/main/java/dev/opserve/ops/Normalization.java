// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Normalization: a function for each operator. What is not required is set on what it returns. */
public final class Normalization {
  private Normalization() {}

  /**
   * Normalizes each group of channels to mean 0 and variance 1, then scales and offsets each channel.
   *
   * <pre>
   * out = (self - mean) * rstd * gamma + beta, rstd = 1 / sqrt(variance + eps)
   * mean and the biased variance are those of the C/group channels of a group, HxW elements each. self is read as (N, C, HxW)
   *     whatever its shape. A group without elements has mean 0 and rstd NaN.
   * The profiles atlas-a2 and atlas-a3 take at most 8000 channels a group.
   * </pre>
   *
   * Outputs: {@code out}, the normalized input; {@code mean}, mean of each group; {@code rstd}, 1 / sqrt(variance + eps) of
   * each group.
   *
   * @param self the input
   * @param n extent of the batch
   * @param c number of channels
   * @param hxW elements of a channel
   * @param group number of groups; divides C
   * @return the call
   */
  public static GroupNorm groupNorm(Input self, long n, long c, long hxW, long group) {
    GroupNorm call = new GroupNorm();
    call.input("self", self);
    call.attribute("N", n);
    call.attribute("C", c);
    call.attribute("HxW", hxW);
    call.attribute("group", group);
    return call;
  }

  /** A call of GroupNorm. */
  public static final class GroupNorm extends Call {
    private GroupNorm() {
      super("GroupNorm");
    }

    /**
     * Sets gamma.
     *
     * @param gamma scale of each channel; 1 when not given
     * @return this
     */
    public GroupNorm gamma(Input gamma) {
      input("gamma", gamma);
      return this;
    }

    /**
     * Sets beta.
     *
     * @param beta offset of each channel; 0 when not given
     * @return this
     */
    public GroupNorm beta(Input beta) {
      input("beta", beta);
      return this;
    }

    /**
     * Sets eps.
     *
     * @param eps added to the variance; 1e-05 unless set
     * @return this
     */
    public GroupNorm eps(double eps) {
      attribute("eps", eps);
      return this;
    }
  }

  /**
   * Gradients of GroupNorm with respect to its input, gamma and beta.
   *
   * <pre>
   * For each n and c: ds = sum(grad_out * input), db = sum(grad_out), over HxW.
   * For each n and group, with s = group / (C * HxW): DS = sum(gamma * ds), DB = sum(gamma * db), c1 = rstd * gamma, c2 = (DB *
   *     mean - DS) * rstd^3 * s, c3 = -c2 * mean - DB * rstd * s.
   * grad_input = c1 * grad_out + c2 * input + c3; grad_gamma = sum over n of (ds - db * mean) * rstd; grad_beta = sum over n of
   *     db.
   * mean and rstd are taken as given. An output that output_mask leaves out is empty and not computed. With N = 0 or HxW = 0
   *     the gradients of gamma and beta are zeros.
   * The profiles atlas-a2 and atlas-a3 take at most 8000 channels a group.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of input; {@code grad_gamma}, gradient of gamma; {@code grad_beta}, gradient of beta.
   *
   * @param gradOut gradient of GroupNorm's out
   * @param input the input of GroupNorm
   * @param mean mean of each group
   * @param rstd 1 / sqrt(variance + eps) of each group
   * @param n extent of the batch
   * @param c number of channels
   * @param hxW elements of a channel
   * @param group number of groups; divides C
   * @return the call
   */
  public static GroupNormBackward groupNormBackward(
      Input gradOut, Input input, Input mean, Input rstd, long n, long c, long hxW, long group) {
    GroupNormBackward call = new GroupNormBackward();
    call.input("grad_out", gradOut);
    call.input("input", input);
    call.input("mean", mean);
    call.input("rstd", rstd);
    call.attribute("N", n);
    call.attribute("C", c);
    call.attribute("HxW", hxW);
    call.attribute("group", group);
    return call;
  }

  /** A call of GroupNormBackward. */
  public static final class GroupNormBackward extends Call {
    private GroupNormBackward() {
      super("GroupNormBackward");
    }

    /**
     * Sets gamma.
     *
     * @param gamma scale of each channel; 1 when not given
     * @return this
     */
    public GroupNormBackward gamma(Input gamma) {
      input("gamma", gamma);
      return this;
    }

    /**
     * Sets outputMask.
     *
     * @param outputMask which of grad_input, grad_gamma and grad_beta to compute; [true, true, true] unless set
     * @return this
     */
    public GroupNormBackward outputMask(boolean... outputMask) {
      attribute("output_mask", outputMask);
      return this;
    }
  }

  /**
   * Normalizes the last dimensions to mean 0 and variance 1, then scales and offsets each element.
   *
   * <pre>
   * out = (input - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)
   * mean and the biased variance are those of the elements that have all but the last dimensions, normalized_shape, in common.
   *     Where normalized_shape has no elements mean is 0 and rstd NaN.
   * weight and bias have the dtype of input, or both float32. mean and rstd have that of weight and bias, or of input where
   *     neither is given; that of input and float32 may be asked for.
   * </pre>
   *
   * Outputs: {@code out}, the normalized input; {@code mean}, mean of each group of elements; {@code rstd}, 1 / sqrt(variance +
   * eps) of each.
   *
   * @param input the input
   * @param normalizedShape the last dimensions of input, which are normalized together; at least one
   * @return the call
   */
  public static LayerNorm layerNorm(Input input, long[] normalizedShape) {
    LayerNorm call = new LayerNorm();
    call.input("input", input);
    call.attribute("normalized_shape", normalizedShape);
    return call;
  }

  /** A call of LayerNorm. */
  public static final class LayerNorm extends Call {
    private LayerNorm() {
      super("LayerNorm");
    }

    /**
     * Sets weight.
     *
     * @param weight scale of each normalized element; 1 when not given
     * @return this
     */
    public LayerNorm weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets bias.
     *
     * @param bias offset of each normalized element; 0 when not given
     * @return this
     */
    public LayerNorm bias(Input bias) {
      input("bias", bias);
      return this;
    }

    /**
     * Sets eps.
     *
     * @param eps added to the variance; 1e-05 unless set
     * @return this
     */
    public LayerNorm eps(double eps) {
      attribute("eps", eps);
      return this;
    }
  }

  /**
   * Gradients of LayerNorm with respect to its input, weight and bias.
   *
   * <pre>
   * With x = (input - mean) * rstd, g = grad_out * weight, and means over the elements that were normalized together:
   * grad_input = (g - mean(g) - x * mean(g * x)) * rstd; grad_weight = sum(grad_out * x) and grad_bias = sum(grad_out) over all
   *     but the last dimensions.
   * mean and rstd are taken as given, in the dtype of input or float32. grad_weight and grad_bias have the dtype of weight and
   *     bias, or of input where neither is given. An output that output_mask leaves out is empty and not computed. Without a
   *     weight PyTorch has no grad_weight and grad_bias; here they are those of a weight of ones.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of input; {@code grad_weight}, gradient of weight; {@code grad_bias}, gradient of
   * bias.
   *
   * @param gradOut gradient of LayerNorm's out
   * @param input the input of LayerNorm
   * @param mean mean of each group of elements
   * @param rstd 1 / sqrt(variance + eps) of each
   * @param normalizedShape the last dimensions of input, which are normalized together; at least one
   * @return the call
   */
  public static LayerNormBackward layerNormBackward(
      Input gradOut, Input input, Input mean, Input rstd, long[] normalizedShape) {
    LayerNormBackward call = new LayerNormBackward();
    call.input("grad_out", gradOut);
    call.input("input", input);
    call.input("mean", mean);
    call.input("rstd", rstd);
    call.attribute("normalized_shape", normalizedShape);
    return call;
  }

  /** A call of LayerNormBackward. */
  public static final class LayerNormBackward extends Call {
    private LayerNormBackward() {
      super("LayerNormBackward");
    }

    /**
     * Sets weight.
     *
     * @param weight scale of each normalized element; 1 when not given
     * @return this
     */
    public LayerNormBackward weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets bias.
     *
     * @param bias the bias of LayerNorm; not read
     * @return this
     */
    public LayerNormBackward bias(Input bias) {
      input("bias", bias);
      return this;
    }

    /**
     * Sets outputMask.
     *
     * @param outputMask which of grad_input, grad_weight and grad_bias to compute; [true, true, true] unless set
     * @return this
     */
    public LayerNormBackward outputMask(boolean... outputMask) {
      attribute("output_mask", outputMask);
      return this;
    }
  }

  /**
   * Divides the last dimensions by their root mean square, then scales each element.
   *
   * <pre>
   * y = x * rstd * gamma, rstd = 1 / sqrt(mean(x^2) + epsilon)
   * The mean is that of the elements that have all but the last dimensions, gamma's, in common.
   * gamma has the dtype of x, or float32; rstd is float32.
   * </pre>
   *
   * Outputs: {@code y}, the normalized input; {@code rstd}, 1 / sqrt(mean of the squares + epsilon) of each group of elements.
   *
   * @param x the input
   * @param gamma scale of each normalized element; its shape is that of what is normalized together
   * @return the call
   */
  public static RmsNorm rmsNorm(Input x, Input gamma) {
    RmsNorm call = new RmsNorm();
    call.input("x", x);
    call.input("gamma", gamma);
    return call;
  }

  /** A call of RmsNorm. */
  public static final class RmsNorm extends Call {
    private RmsNorm() {
      super("RmsNorm");
    }

    /**
     * Sets epsilon.
     *
     * @param epsilon added to the mean of the squares; 1e-06 unless set
     * @return this
     */
    public RmsNorm epsilon(double epsilon) {
      attribute("epsilon", epsilon);
      return this;
    }
  }

  /**
   * Gradients of RmsNorm with respect to x and gamma.
   *
   * <pre>
   * With means over the elements that were normalized together:
   * dx = (dy * gamma - x * rstd * mean(dy * gamma * x * rstd)) * rstd; dgamma = sum(dy * x * rstd) over all but the last
   *     dimensions.
   * rstd is taken as given. gamma has the dtype of x, or float32; rstd and dgamma are float32.
   * </pre>
   *
   * Outputs: {@code dx}, gradient of x; {@code dgamma}, gradient of gamma.
   *
   * @param dy gradient of RmsNorm's y
   * @param x the input of RmsNorm
   * @param rstd 1 / sqrt(mean of the squares + epsilon) of each group of elements
   * @param gamma scale of each normalized element; its shape is that of what is normalized together
   * @return the call
   */
  public static Call rmsNormGrad(Input dy, Input x, Input rstd, Input gamma) {
    Call call = Call.of("RmsNormGrad");
    call.input("dy", dy);
    call.input("x", x);
    call.input("rstd", rstd);
    call.input("gamma", gamma);
    return call;
  }

  /**
   * Normalizes each channel to mean 0 and variance 1, over the batch or with running statistics, then scales and offsets it.
   *
   * <pre>
   * output = (input - mean) * invstd * weight + bias, invstd = 1 / sqrt(variance + eps)
   * In training mean and the biased variance are those of the channel, dimension 1 of input, over all other dimensions; else
   *     they are running_mean and running_var. save_mean and save_invstd are the mean and invstd that were used. A channel
   *     without elements has mean 0 and invstd NaN.
   * running_mean and running_var are not changed. In training, where they are given, running_mean_out = (1 - momentum) *
   *     running_mean + momentum * mean, and running_var_out likewise with the unbiased variance, which is NaN for a single
   *     element; without elements both stay as they were. Else they are empty. The C function has no such outputs: it changes
   *     running_mean and running_var themselves.
   * </pre>
   *
   * Outputs: {@code output}, the normalized input; {@code save_mean}, mean of each channel; running_mean unless training;
   * {@code save_invstd}, 1 / sqrt(variance + eps) of each channel; of running_var unless training; {@code running_mean_out},
   * running_mean with this call's mean; empty unless training with a running_mean; {@code running_var_out}, running_var with
   * this call's variance; empty unless training with a running_var.
   *
   * @param input the input
   * @param training whether to normalize with the statistics of input, else with the running ones
   * @return the call
   */
  public static BatchNorm batchNorm(Input input, boolean training) {
    BatchNorm call = new BatchNorm();
    call.input("input", input);
    call.attribute("training", training);
    return call;
  }

  /** A call of BatchNorm. */
  public static final class BatchNorm extends Call {
    private BatchNorm() {
      super("BatchNorm");
    }

    /**
     * Sets weight.
     *
     * @param weight scale of each channel; 1 when not given
     * @return this
     */
    public BatchNorm weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets bias.
     *
     * @param bias offset of each channel; 0 when not given
     * @return this
     */
    public BatchNorm bias(Input bias) {
      input("bias", bias);
      return this;
    }

    /**
     * Sets runningMean.
     *
     * @param runningMean mean of each channel over earlier calls; needed unless training
     * @return this
     */
    public BatchNorm runningMean(Input runningMean) {
      input("running_mean", runningMean);
      return this;
    }

    /**
     * Sets runningVar.
     *
     * @param runningVar variance of each channel over earlier calls; needed unless training
     * @return this
     */
    public BatchNorm runningVar(Input runningVar) {
      input("running_var", runningVar);
      return this;
    }

    /**
     * Sets momentum.
     *
     * @param momentum how much of the running statistics this call's become; 0.1 unless set
     * @return this
     */
    public BatchNorm momentum(double momentum) {
      attribute("momentum", momentum);
      return this;
    }

    /**
     * Sets eps.
     *
     * @param eps added to the variance; 1e-05 unless set
     * @return this
     */
    public BatchNorm eps(double eps) {
      attribute("eps", eps);
      return this;
    }
  }

  /**
   * Gradients of BatchNorm with respect to its input, weight and bias.
   *
   * <pre>
   * In training, with x = (input - save_mean) * save_invstd and means over all dimensions but the channels':
   * grad_input = (grad_out - mean(grad_out) - x * mean(grad_out * x)) * save_invstd * weight; grad_weight = sum(grad_out * x),
   *     grad_bias = sum(grad_out).
   * Else, with invstd = 1 / sqrt(running_var + eps): grad_input = grad_out * invstd * weight; grad_weight = sum(grad_out *
   *     (input - running_mean) * invstd), grad_bias = sum(grad_out).
   * The statistics are taken as given. An output that output_mask leaves out is empty and not computed.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of input; {@code grad_weight}, gradient of weight; {@code grad_bias}, gradient of
   * bias.
   *
   * @param gradOut gradient of BatchNorm's output
   * @param input the input of BatchNorm
   * @param training whether to normalize with the statistics of input, else with the running ones
   * @return the call
   */
  public static BatchNormBackward batchNormBackward(Input gradOut, Input input, boolean training) {
    BatchNormBackward call = new BatchNormBackward();
    call.input("grad_out", gradOut);
    call.input("input", input);
    call.attribute("training", training);
    return call;
  }

  /** A call of BatchNormBackward. */
  public static final class BatchNormBackward extends Call {
    private BatchNormBackward() {
      super("BatchNormBackward");
    }

    /**
     * Sets weight.
     *
     * @param weight scale of each channel; 1 when not given
     * @return this
     */
    public BatchNormBackward weight(Input weight) {
      input("weight", weight);
      return this;
    }

    /**
     * Sets runningMean.
     *
     * @param runningMean the running_mean of BatchNorm; needed, and read, unless training
     * @return this
     */
    public BatchNormBackward runningMean(Input runningMean) {
      input("running_mean", runningMean);
      return this;
    }

    /**
     * Sets runningVar.
     *
     * @param runningVar the running_var of BatchNorm; needed, and read, unless training
     * @return this
     */
    public BatchNormBackward runningVar(Input runningVar) {
      input("running_var", runningVar);
      return this;
    }

    /**
     * Sets saveMean.
     *
     * @param saveMean mean of each channel; needed, and read, in training
     * @return this
     */
    public BatchNormBackward saveMean(Input saveMean) {
      input("save_mean", saveMean);
      return this;
    }

    /**
     * Sets saveInvstd.
     *
     * @param saveInvstd 1 / sqrt(variance + eps) of each channel; needed, and read, in training
     * @return this
     */
    public BatchNormBackward saveInvstd(Input saveInvstd) {
      input("save_invstd", saveInvstd);
      return this;
    }

    /**
     * Sets eps.
     *
     * @param eps added to the variance; 1e-05 unless set
     * @return this
     */
    public BatchNormBackward eps(double eps) {
      attribute("eps", eps);
      return this;
    }

    /**
     * Sets outputMask.
     *
     * @param outputMask which of grad_input, grad_weight and grad_bias to compute; [true, true, true] unless set
     * @return this
     */
    public BatchNormBackward outputMask(boolean... outputMask) {
      attribute("output_mask", outputMask);
      return this;
    }
  }
}
