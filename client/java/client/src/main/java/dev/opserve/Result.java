package dev.opserve;

import dev.opserve.v1.Execution;
import java.util.Map;
import java.util.Optional;

/** An operator's outputs. */
public final class Result {
  private final Map<String, Tensor> outputs;
  private final Execution execution;

  Result(Map<String, Tensor> outputs, Execution execution) {
    this.outputs = outputs;
    this.execution = execution;
  }

  /**
   * An output. One that the call masked out has shape [0].
   *
   * @param name its name in the operator's schema
   * @return the tensor
   * @throws IllegalArgumentException if the operator has no output of that name
   */
  public Tensor get(String name) {
    return named(outputs, name);
  }

  static <T> T named(Map<String, T> outputs, String name) {
    T output = outputs.get(name);
    if (output == null) {
      throw new IllegalArgumentException("want one of the outputs " + String.join(", ", outputs.keySet()) + ", got " + name);
    }
    return output;
  }

  /**
   * The output of an operator that has one.
   *
   * @return the tensor
   * @throws IllegalStateException if there are several
   */
  public Tensor only() {
    if (outputs.size() != 1) {
      throw new IllegalStateException("want an operator with one output, got outputs " + String.join(", ", outputs.keySet()));
    }
    return outputs.values().iterator().next();
  }

  /**
   * All outputs, in the order of the operator's schema.
   *
   * @return an unmodifiable map by name
   */
  public Map<String, Tensor> outputs() {
    return outputs;
  }

  /**
   * How the call was run.
   *
   * @return there where the call asked for it ({@link Call#reported}) and went in one message
   */
  public Optional<Execution> execution() {
    return Optional.ofNullable(execution);
  }

  @Override
  public String toString() {
    return "Result" + outputs;
  }
}
