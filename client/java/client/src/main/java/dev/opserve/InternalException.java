package dev.opserve;

/** A device fault, a defect of opserve, or an answer that makes no sense. */
public final class InternalException extends OpserveException {
  private static final long serialVersionUID = 1L;

  InternalException(Failure failure) {
    super(failure);
  }
}
