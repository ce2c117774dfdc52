package dev.opserve;

/** No server is there, it is stopping, or its device is gone. */
public final class UnavailableException extends OpserveException {
  private static final long serialVersionUID = 1L;

  UnavailableException(Failure failure) {
    super(failure);
  }
}
