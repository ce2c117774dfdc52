package dev.opserve;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import java.nio.ByteBuffer;
import java.util.List;

/** A message that came: the fields that protobuf is to read, and the entries of {@code raw}. */
record Parts(byte[] header, List<ByteBuffer> raw) {
  /** Reads the small fields. InternalException where they are no such message. */
  <T extends MessageLite> T read(Parser<T> parser) {
    try {
      return parser.parseFrom(header);
    } catch (InvalidProtocolBufferException notAMessage) {
      throw Errors.badAnswer("it is no message of its method: " + notAMessage.getMessage());
    }
  }

  /** An entry; InternalException where there is none. */
  ByteBuffer entry(int index, String what) {
    if (index < 0 || index >= raw.size()) {
      throw Errors.badAnswer(what + " has no bytes");
    }
    return raw.get(index);
  }

  /** Where entries of {@code raw} are to be put. */
  interface Places {
    /** Everything in memory of its own. */
    Places OWN = (header, index, size) -> null;

    /**
     * The memory for an entry, of just its size; null for memory of its own.
     *
     * @param header what came of the message's other fields before the entry; the same array until there is more
     */
    ByteBuffer placeOf(byte[] header, int index, int size);
  }
}
