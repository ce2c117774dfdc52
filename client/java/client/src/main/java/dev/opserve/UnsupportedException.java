package dev.opserve;

/** The server, the device or its product profile lacks it. */
public final class UnsupportedException extends OpserveException {
  private static final long serialVersionUID = 1L;

  UnsupportedException(Failure failure) {
    super(failure);
  }
}
