package dev.opserve;

/** A bound on memory, on calls in flight, on time or on a message's size was met. */
public final class ResourceExhaustedException extends OpserveException {
  private static final long serialVersionUID = 1L;

  ResourceExhaustedException(Failure failure) {
    super(failure);
  }
}
