package dev.opserve;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.opserve.Parts.Places;
import dev.opserve.v1.Answer;
import dev.opserve.v1.SessionResponse;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.LongFunction;

/** Has the chunks of a session's answers read into the tensors that they belong to. One message at a time. */
final class ChunkPlaces implements Places {
  private record Chunk(long command, long offset) {}

  private final LongFunction<Chunks> chunksOf;
  private final Map<Integer, Chunk> byIndex = new HashMap<>();
  private final Map<ByteBuffer, Chunk> filled = new IdentityHashMap<>();
  private byte[] read;

  /** {@code chunksOf} gives where a command's chunks go; null for one that takes none. */
  ChunkPlaces(LongFunction<Chunks> chunksOf) {
    this.chunksOf = chunksOf;
  }

  @Override
  public ByteBuffer placeOf(byte[] header, int index, int size) {
    if (index == 0) {
      filled.clear();
    }
    if (header != read) {
      read = header;
      index(header);
    }
    Chunk chunk = byIndex.get(index);
    Chunks chunks = chunk == null ? null : chunksOf.apply(chunk.command);
    ByteBuffer place = chunks == null ? null : chunks.placeOf(chunk.offset, size);
    if (place != null) {
      filled.put(place, chunk);
    }
    return place;
  }

  private void index(byte[] header) {
    byIndex.clear();
    try {
      for (Answer answer : SessionResponse.parseFrom(header).getAnswersList()) {
        if (answer.hasChunk()) {
          byIndex.put(answer.getChunk().getRawIndex(), new Chunk(answer.getId(), answer.getChunk().getOffsetBytes()));
        }
      }
    } catch (InvalidProtocolBufferException toldLater) {
      byIndex.clear();
    }
  }

  /** Whether these bytes were read into the memory of that chunk. */
  boolean filled(ByteBuffer bytes, Answer answer) {
    return new Chunk(answer.getId(), answer.getChunk().getOffsetBytes()).equals(filled.get(bytes));
  }
}
