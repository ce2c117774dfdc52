package dev.opserve;

/** The call was cancelled, or what it belonged to is over. */
public final class CancelledException extends OpserveException {
  private static final long serialVersionUID = 1L;

  CancelledException(Failure failure) {
    super(failure);
  }
}
