package dev.opserve;

/** The call has no token that the server knows, or the token's roles do not cover it. */
public final class AccessDeniedException extends OpserveException {
  private static final long serialVersionUID = 1L;

  AccessDeniedException(Failure failure) {
    super(failure);
  }
}
