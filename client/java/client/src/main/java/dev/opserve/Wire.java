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
