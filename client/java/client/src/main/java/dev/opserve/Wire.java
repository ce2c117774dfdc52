package dev.opserve;

import dev.opserve.Parts.Places;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import java.io.IOException;
import java.io.InputStream;

/** The methods of opserve.v1, for messages whose bulk protobuf does not see. */
final class Wire {
  private static final MethodDescriptor.Marshaller<Message> MESSAGES = new MethodDescriptor.Marshaller<>() {
    @Override
    public InputStream stream(Message message) {
      return message.stream();
    }

    @Override
    public Message parse(InputStream in) {
      throw new UnsupportedOperationException("a client reads no requests");
    }
  };

  private static final String UNITS = "numSMH";
  private static final long[] UNIT_NANOS = {
    1, 1_000, 1_000_000, 1_000_000_000, 60_000_000_000L, 3_600_000_000_000L
  };

  private Wire() {}

  /** A message that came, or why it is none: gRPC would tell of an exception of a marshaller as a cancellation. */
  record Answer(Parts parts, OpserveException error) {
    Parts get() {
      if (error != null) {
        throw error;
      }
      return parts;
    }
  }

  private record Answers(Places places) implements MethodDescriptor.Marshaller<Answer> {
    @Override
    public InputStream stream(Answer answer) {
      throw new UnsupportedOperationException("a client sends no answers");
    }

    @Override
    public Answer parse(InputStream in) {
      try {
        return new Answer(PartsReader.read(in, places), null);
      } catch (OpserveException error) {
        return new Answer(null, error);
      } catch (IOException error) {
        return new Answer(null, Errors.badAnswer(String.valueOf(error.getMessage())));
      }
    }
  }

  /** A timeout as the header {@code grpc-timeout} has it: at most eight digits, of the smallest unit that has room. */
  static String timeout(long nanos) {
    long left = Math.max(nanos, 1);
    int unit = 0;
    while (left / UNIT_NANOS[unit] >= 100_000_000) {
      unit++;
    }
    return left / UNIT_NANOS[unit] + UNITS.substring(unit, unit + 1);
  }

  static MethodDescriptor<Message, Answer> unary(String method, Places places) {
    return method(MethodType.UNARY, "opserve.v1.OperatorService/" + method, places);
  }

  static MethodDescriptor<Message, Answer> session(Places places) {
    return method(MethodType.BIDI_STREAMING, "opserve.v1.SessionService/Session", places);
  }

  private static MethodDescriptor<Message, Answer> method(MethodType type, String name, Places places) {
    return MethodDescriptor.newBuilder(MESSAGES, new Answers(places)).setType(type).setFullMethodName(name).build();
  }
}
