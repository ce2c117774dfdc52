// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import dev.opserve.Call;
import dev.opserve.Input;

/** Embeddings: a function for each operator. What is not required is set on what it returns. */
public final class Embeddings {
  private Embeddings() {}

  /**
   * A row of a matrix for each index.
   *
   * <pre>
   * out[i, ..., :] = weight[indices[i, ...], :]
   * An index outside of [0, V) is an error.
   * EmbeddingDenseBackward computes the gradient of weight, with num_weights V.
   * </pre>
   *
   * Outputs: {@code out}, the row of each index.
   *
   * @param weight the rows to choose from
   * @param indices the number of a row, in [0, V)
   * @return the call
   */
  public static Call embedding(Input weight, Input indices) {
    Call call = Call.of("Embedding");
    call.input("weight", weight);
    call.input("indices", indices);
    return call;
  }

  /**
   * Gradient of Embedding with respect to its weight.
   *
   * <pre>
   * out[v, :] = sum of grad[i, ..., :] where indices[i, ...] = v, added in float64, or with scale_grad_by_freq their mean
   * Of padding_idx the row is 0. An index outside of [0, num_weights) is an error, also where PyTorch would not look at it.
   * </pre>
   *
   * Outputs: {@code out}, gradient of the forward's weight.
   *
   * @param grad gradient of the forward's result
   * @param indices the forward's indices, in [0, num_weights)
   * @param numWeights rows of the forward's weight
   * @return the call
   */
  public static EmbeddingDenseBackward embeddingDenseBackward(Input grad, Input indices, long numWeights) {
    EmbeddingDenseBackward call = new EmbeddingDenseBackward();
    call.input("grad", grad);
    call.input("indices", indices);
    call.attribute("num_weights", numWeights);
    return call;
  }

  /** A call of EmbeddingDenseBackward. */
  public static final class EmbeddingDenseBackward extends Call {
    private EmbeddingDenseBackward() {
      super("EmbeddingDenseBackward");
    }

    /**
     * Sets paddingIdx.
     *
     * @param paddingIdx an index whose row has no gradient; -1, in C its bits, stands for none; -1 unless set
     * @return this
     */
    public EmbeddingDenseBackward paddingIdx(long paddingIdx) {
      attribute("padding_idx", paddingIdx);
      return this;
    }

    /**
     * Sets scaleGradByFreq.
     *
     * @param scaleGradByFreq whether the gradient of a row is divided by how often its index comes; false unless set
     * @return this
     */
    public EmbeddingDenseBackward scaleGradByFreq(boolean scaleGradByFreq) {
      attribute("scale_grad_by_freq", scaleGradByFreq);
      return this;
    }
  }
}
