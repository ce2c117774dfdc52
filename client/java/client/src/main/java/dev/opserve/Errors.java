package dev.opserve;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.opserve.OpserveException.Failure;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.IOException;
import java.time.Duration;

/** What became of a call, as exceptions. */
final class Errors {
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

  private Errors() {}

  static OpserveException of(Failure failure) {
    return switch (failure.code()) {
      case INVALID_ARGUMENT, OUT_OF_RANGE, FAILED_PRECONDITION -> new InvalidArgumentException(failure);
      case NOT_FOUND -> new NotFoundException(failure);
      case UNIMPLEMENTED -> new UnsupportedException(failure);
      case DEADLINE_EXCEEDED -> new DeadlineExceededException(failure);
      case UNAVAILABLE -> new UnavailableException(failure);
      case RESOURCE_EXHAUSTED -> new ResourceExhaustedException(failure);
      case CANCELLED -> new CancelledException(failure);
      case UNAUTHENTICATED, PERMISSION_DENIED -> new AccessDeniedException(failure);
      case INTERNAL -> new InternalException(failure);
      default -> new OpserveException(failure);
    };
  }

  static OpserveException of(Status.Code code, String message) {
    return of(Failure.of(code, message, null));
  }

  /** How an RPC ended that did not end well. */
  static OpserveException of(Status status, Metadata trailers) {
    byte[] details = trailers == null ? null : trailers.get(DETAILS);
    Failure failure = null;
    if (details != null) {
      try {
        failure = failureOf(com.google.rpc.Status.parseFrom(details));
      } catch (InvalidProtocolBufferException noStatus) {
        failure = null;
      }
    }
    if (failure == null || failure.code() == Status.Code.OK) {
      String message = status.getDescription() == null ? "" : status.getDescription();
      failure = Failure.of(codeOf(status), message, status.getCause());
    }
    Duration pushback = failure.retryAfter() == null ? pushbackOf(trailers) : null;
    return of(pushback == null ? failure : failure.after(pushback));
  }

  /** gRPC's code; a connection that broke while the call was written is UNKNOWN to gRPC's transport, to callers UNAVAILABLE. */
  private static Status.Code codeOf(Status status) {
    boolean broken = status.getCode() == Status.Code.UNKNOWN && status.getCause() instanceof IOException;
    return broken ? Status.Code.UNAVAILABLE : status.getCode();
  }

  private static Duration pushbackOf(Metadata trailers) {
    String text = trailers == null ? null : trailers.get(PUSHBACK);
    if (text == null) {
      return null;
    }
    try {
      int millis = Integer.parseInt(text);
      return millis < 0 ? null : Duration.ofMillis(millis);
    } catch (NumberFormatException notANumber) {
      return null;
    }
  }

  /** What a google.rpc.Status in an answer tells of. */
  static Failure failureOf(com.google.rpc.Status status) throws InvalidProtocolBufferException {
    ErrorInfo info = ErrorInfo.getDefaultInstance();
    Duration retryAfter = null;
    for (Any detail : status.getDetailsList()) {
      if (detail.is(ErrorInfo.class)) {
        info = detail.unpack(ErrorInfo.class);
      } else if (detail.is(RetryInfo.class)) {
        var delay = detail.unpack(RetryInfo.class).getRetryDelay();
        retryAfter = delayOf(delay.getSeconds(), delay.getNanos());
      }
    }
    var words = info.getMetadataMap();
    return new Failure(
        Status.fromCodeValue(status.getCode()).getCode(), status.getMessage(), info.getReason(), words.getOrDefault("code", ""),
        words.getOrDefault("operator", ""), words.getOrDefault("parameter", ""), words.getOrDefault("want", ""),
        words.getOrDefault("got", ""), retryAfter, 0, "", null);
  }

  /** Null for a delay that makes no sense. */
  private static Duration delayOf(long seconds, int nanos) {
    boolean sensible = seconds >= 0 && seconds < Integer.MAX_VALUE && nanos >= 0 && nanos < 1_000_000_000;
    return sensible ? Duration.ofSeconds(seconds, nanos) : null;
  }

  /** The error of a command or of a call in a batch; InternalException where it makes no sense. */
  static OpserveException of(com.google.rpc.Status status, long command, String place) {
    try {
      Failure failure = failureOf(status);
      if (failure.code() == Status.Code.OK) {
        return badAnswer("an error whose code is OK");
      }
      return of(command == 0 ? failure : failure.ofCommand(command, place));
    } catch (InvalidProtocolBufferException notADetail) {
      return badAnswer("an error with details that are no messages");
    }
  }

  /** An answer that no server of this protocol sends. */
  static OpserveException badAnswer(String what) {
    return of(Status.Code.INTERNAL, "the server's answer makes no sense: " + what);
  }
}
