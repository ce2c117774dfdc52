package dev.opserve;

/** An argument is wrong: INVALID_ARGUMENT, OUT_OF_RANGE, FAILED_PRECONDITION. */
public final class InvalidArgumentException extends OpserveException {
  private static final long serialVersionUID = 1L;

  InvalidArgumentException(Failure failure) {
    super(failure);
  }
}
