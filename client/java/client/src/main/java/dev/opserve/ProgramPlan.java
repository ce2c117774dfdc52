package dev.opserve;

/**
 * A program as it runs: with the steps that compute gradients, without those on which no output depends. Its text is what
 * {@code opserve program show} prints: a program that can be saved, changed and run.
 *
 * @param intermediateBytes what the results that are no outputs would take if each had memory of its own
 * @param call the message that has the program
 */
public record ProgramPlan(long intermediateBytes, dev.opserve.v1.Call call) {
  @Override
  public String toString() {
    return ProgramText.of(call.getProgram());
  }
}
