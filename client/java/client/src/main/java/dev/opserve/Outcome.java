package dev.opserve;

import java.util.Optional;

/** What became of one call of a batch. */
public final class Outcome {
  private final Result result;
  private final OpserveException error;

  Outcome(Result result, OpserveException error) {
    this.result = result;
    this.error = error;
  }

  /**
   * The outputs.
   *
   * @return the result
   * @throws OpserveException the call's failure
   */
  public Result result() {
    if (error != null) {
      throw error.again();
    }
    return result;
  }

  /**
   * The failure.
   *
   * @return there where the call failed
   */
  public Optional<OpserveException> error() {
    return Optional.ofNullable(error);
  }

  @Override
  public String toString() {
    return error == null ? result.toString() : error.getMessage();
  }
}
