package dev.opserve;

/** The deadline passed. */
public final class DeadlineExceededException extends OpserveException {
  private static final long serialVersionUID = 1L;

  DeadlineExceededException(Failure failure) {
    super(failure);
  }
}
