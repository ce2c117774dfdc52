// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Upsampling: a function for each operator. What is not required is set on what it returns. */
public final class Upsampling {
  private Upsampling() {}

  /**
   * Resamples planes: each output is the element nearest to it.
   *
   * <pre>
   * out[h][w] = self[min(floor(h * H / H_out), H - 1)][min(floor(w * W / W_out), W - 1)], the ratio and its products taken in
   *     float32, as PyTorch has them.
   * Its gradient is UpsampleNearest2dBackward with self's shape as input_size.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param outputSize height and width of the result
   * @return the call
   */
  public static Call upsampleNearest2d(Input self, long[] outputSize) {
    Call call = Call.of("UpsampleNearest2d");
    call.input("self", self);
    call.attribute("output_size", outputSize);
    return call;
  }

  /**
   * Gradient of UpsampleNearest2d.
   *
   * <pre>
   * grad_input = for each element the sum of grad_out over the outputs that it is, in their order. The places are
   *     UpsampleNearest2d's, but with 1 / scales_h and 1 / scales_w for the ratios where they are positive and the output's
   *     extent is neither that of the input nor twice that, as in PyTorch. Sums are float64.
   * </pre>
   *
   * Outputs: {@code grad_input}, gradient of the forward's input.
   *
   * @param gradOut gradient of the forward's result
   * @param outputSize height and width of the result
   * @param inputSize shape of the forward's input: N, C, H, W
   * @return the call
   */
  public static UpsampleNearest2dBackward upsampleNearest2dBackward(Input gradOut, long[] outputSize, long[] inputSize) {
    UpsampleNearest2dBackward call = new UpsampleNearest2dBackward();
    call.input("grad_out", gradOut);
    call.attribute("output_size", outputSize);
    call.attribute("input_size", inputSize);
    return call;
  }

  /** A call of UpsampleNearest2dBackward. */
  public static final class UpsampleNearest2dBackward extends Call {
    private UpsampleNearest2dBackward() {
      super("UpsampleNearest2dBackward");
    }

    /**
     * Sets scalesH.
     *
     * @param scalesH factor of the height; where it is not positive, H_out / H stands for it; 0.0 unless set
     * @return this
     */
    public UpsampleNearest2dBackward scalesH(double scalesH) {
      attribute("scales_h", scalesH);
      return this;
    }

    /**
     * Sets scalesW.
     *
     * @param scalesW factor of the width; where it is not positive, W_out / W stands for it; 0.0 unless set
     * @return this
     */
    public UpsampleNearest2dBackward scalesW(double scalesW) {
      attribute("scales_w", scalesW);
      return this;
    }
  }

  /**
   * Resamples planes: each output lies between two rows and two columns.
   *
   * <pre>
   * out[h][w] = (1 - b) * ((1 - a) * self[y][x] + a * self[y][x + 1]) + b * ((1 - a) * self[y + 1][x] + a * self[y + 1][x +
   *     1]), x + a being the place of w: with align_corners w * (W - 1) / (W_out - 1), else max((w + 0.5) * r - 0.5, 0), r = W
   *     / W_out, or 1 / scales_w where that is positive; y + b likewise.
   * There is nothing beyond the last row and column: a place there is theirs. An extent that stays as it is keeps its places.
   *     Computed in float64, where PyTorch has float32; an infinity at the border stays one, where PyTorch's 0 * inf makes NaN
   *     of it.
   * Its gradient is UpsampleBilinear2dBackward with self's shape as input_size.
   * </pre>
   *
   * Outputs: {@code out}, the result.
   *
   * @param self the input
   * @param outputSize height and width of the result
   * @return the call
   */
  public static UpsampleBilinear2d upsampleBilinear2d(Input self, long[] outputSize) {
    UpsampleBilinear2d call = new UpsampleBilinear2d();
    call.input("self", self);
    call.attribute("output_size", outputSize);
    return call;
  }

  /** A call of UpsampleBilinear2d. */
  public static final class UpsampleBilinear2d extends Call {
    private UpsampleBilinear2d() {
      super("UpsampleBilinear2d");
    }

    /**
     * Sets alignCorners.
     *
     * @param alignCorners whether the centers of the corners, not their outer edges, lie on each other; false unless set
     * @return this
     */
    public UpsampleBilinear2d alignCorners(boolean alignCorners) {
      attribute("align_corners", alignCorners);
      return this;
    }

    /**
     * Sets scalesH.
     *
     * @param scalesH factor of the height; where it is not positive, H_out / H stands for it; 0.0 unless set
     * @return this
     */
    public UpsampleBilinear2d scalesH(double scalesH) {
      attribute("scales_h", scalesH);
      return this;
    }

    /**
     * Sets scalesW.
     *
     * @param scalesW factor of the width; where it is not positive, W_out / W stands for it; 0.0 unless set
     * @return this
     */
    public UpsampleBilinear2d scalesW(double scalesW) {
      attribute("scales_w", scalesW);
      return this;
    }
  }

  /**
   * Gradient of UpsampleBilinear2d.
   *
   * <pre>
   * out = for each element the sum of grad_out times its part in the output, over all outputs that it is in, in their order.
   *     Places and parts are UpsampleBilinear2d's. Sums are float64.
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's input.
   *
   * @param gradOut gradient of the forward's result
   * @param outputSize height and width of the result
   * @param inputSize shape of the forward's input: N, C, H, W
   * @return the call
   */
  public static UpsampleBilinear2dBackward upsampleBilinear2dBackward(Input gradOut, long[] outputSize, long[] inputSize) {
    UpsampleBilinear2dBackward call = new UpsampleBilinear2dBackward();
    call.input("grad_out", gradOut);
    call.attribute("output_size", outputSize);
    call.attribute("input_size", inputSize);
    return call;
  }

  /** A call of UpsampleBilinear2dBackward. */
  public static final class UpsampleBilinear2dBackward extends Call {
    private UpsampleBilinear2dBackward() {
      super("UpsampleBilinear2dBackward");
    }

    /**
     * Sets alignCorners.
     *
     * @param alignCorners whether the centers of the corners, not their outer edges, lie on each other; false unless set
     * @return this
     */
    public UpsampleBilinear2dBackward alignCorners(boolean alignCorners) {
      attribute("align_corners", alignCorners);
      return this;
    }

    /**
     * Sets scalesH.
     *
     * @param scalesH factor of the height; where it is not positive, H_out / H stands for it; 0.0 unless set
     * @return this
     */
    public UpsampleBilinear2dBackward scalesH(double scalesH) {
      attribute("scales_h", scalesH);
      return this;
    }

    /**
     * Sets scalesW.
     *
     * @param scalesW factor of the width; where it is not positive, W_out / W stands for it; 0.0 unless set
     * @return this
     */
    public UpsampleBilinear2dBackward scalesW(double scalesW) {
      attribute("scales_w", scalesW);
      return this;
    }
  }
}
