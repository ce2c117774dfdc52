package dev.opserve;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What a call needs and gives, known without its data.
 *
 * @param workspaceBytes scratch memory that the server uses for it
 * @param outputs the outputs by name, in the order of the operator's schema; one that the call masks out has shape [0]
 * @param inputBytes size of all inputs
 * @param outputBytes size of all outputs
 * @param device the device that it is for
 * @param expected the time that the server expects it to take on one thread
 * @param runsInline whether it runs without waiting in a queue
 * @param program of a program, how it runs
 */
public record Plan(
    long workspaceBytes, Map<String, TensorSpec> outputs, long inputBytes, long outputBytes, String device, Duration expected,
    boolean runsInline, Optional<ProgramPlan> program) {
  /**
   * An output.
   *
   * @param name its name in the operator's schema
   * @return dtype and shape
   * @throws IllegalArgumentException if the operator has no output of that name
   */
  public TensorSpec get(String name) {
    return Result.named(outputs, name);
  }
}
