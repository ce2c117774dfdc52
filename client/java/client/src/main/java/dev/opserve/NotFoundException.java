package dev.opserve;

/** No operator, device or object has that name. */
public final class NotFoundException extends OpserveException {
  private static final long serialVersionUID = 1L;

  NotFoundException(Failure failure) {
    super(failure);
  }
}
