package dev.opserve;

import dev.opserve.v1.OutputChunk;
import java.nio.ByteBuffer;

/** The chunks of a download, which follow each other without gaps, into a tensor's memory. One thread takes them. */
final class Chunks {
  private final Elements target;
  private long received;

  Chunks(Elements target) {
    this.target = target;
  }

  /** The memory that a chunk belongs in; null where it must be converted, or does not belong here. */
  ByteBuffer placeOf(long offset, int size) {
    ByteBuffer bytes = target.writableBytes();
    boolean fits = bytes != null && offset >= received && size <= target.byteSize() - offset;
    return fits ? bytes.slice((int) offset, size) : null;
  }

  /** InternalException for a chunk that is out of place. */
  void take(OutputChunk chunk, ByteBuffer bytes, boolean placed) {
    if (chunk.getOffsetBytes() != received || bytes.remaining() > target.byteSize() - received
        || bytes.remaining() % target.unit() != 0) {
      throw Errors.badAnswer("a chunk is out of place");
    }
    if (!placed) {
      target.write(received, bytes);
    }
    received += bytes.remaining();
  }

  /** InternalException where something is missing. */
  void checkWhole() {
    if (received != target.byteSize()) {
      throw Errors.badAnswer(received + " of " + target.byteSize() + " bytes came");
    }
  }
}
