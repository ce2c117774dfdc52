package dev.opserve;

import io.grpc.Status;
import java.io.Serializable;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A call, or a command of a session, that failed. The subclass says what kind of failure it is, {@link #reason} what exactly: a constant
 * of docs/errors.md.
 */
public class OpserveException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What is known of it. */
  private final Failure failure;

  OpserveException(Failure failure) {
    super(failure.text(), failure.cause());
    this.failure = failure;
  }

  /** What is known of a failure; words that are not known are empty. */
  record Failure(
      Status.Code code, String message, String reason, String aclnnCode, String operator, String parameter, String want, String got,
      Duration retryAfter, long command, String place, Throwable cause) implements Serializable {
    static Failure of(Status.Code code, String message, Throwable cause) {
      return new Failure(code, message, "", "", "", "", "", "", null, 0, "", cause);
    }

    Failure ofCommand(long number, String givenAt) {
      return new Failure(code, message, reason, aclnnCode, operator, parameter, want, got, retryAfter, number, givenAt, cause);
    }

    Failure after(Duration delay) {
      return new Failure(code, message, reason, aclnnCode, operator, parameter, want, got, delay, command, place, cause);
    }

    String text() {
      String kind = reason.isEmpty() ? code.name() : reason;
      String text = kind + (aclnnCode.isEmpty() ? "" : " " + aclnnCode) + ": " + message;
      return command == 0 ? text : text + " (command " + command + ", given at " + place + ")";
    }
  }

  /** The same failure once more, to be thrown by another thread. */
  OpserveException again() {
    return Errors.of(failure);
  }

  Failure failure() {
    return failure;
  }

  /**
   * gRPC's status.
   *
   * @return the code, never OK
   */
  public Status.Code code() {
    return failure.code;
  }

  /**
   * Why, as a constant: SHAPE_MISMATCH.
   *
   * @return the reason; empty where gRPC itself failed: no server, the caller's deadline
   */
  public String reason() {
    return failure.reason;
  }

  /**
   * The code that aclnn has for it: 161002.
   *
   * @return the code, where there is one
   */
  public OptionalInt aclnnCode() {
    try {
      return failure.aclnnCode.isEmpty() ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(failure.aclnnCode));
    } catch (NumberFormatException notANumber) {
      return OptionalInt.empty();
    }
  }

  /**
   * The operator.
   *
   * @return its name; empty where it is not known
   */
  public String operator() {
    return failure.operator;
  }

  /**
   * The input, attribute, output or limit at fault.
   *
   * @return its name; empty where it is not known
   */
  public String parameter() {
    return failure.parameter;
  }

  /**
   * What was wanted of the parameter, in words.
   *
   * @return the words; empty where they are not known
   */
  public String want() {
    return failure.want;
  }

  /**
   * What came, in words.
   *
   * @return the words; empty where they are not known
   */
  public String got() {
    return failure.got;
  }

  /**
   * When another try may succeed, as the server says.
   *
   * @return how long from the failure on; empty where the server does not say
   */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(failure.retryAfter);
  }

  /**
   * The command of a session that failed.
   *
   * @return its number; empty for a call
   */
  public OptionalLong command() {
    return failure.command == 0 ? OptionalLong.empty() : OptionalLong.of(failure.command);
  }

  /**
   * Where the program gave that command: {@code Train.java:12}.
   *
   * @return file and line; empty for a call
   */
  public String place() {
    return failure.place;
  }
}
