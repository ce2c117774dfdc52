package dev.opserve;

import dev.opserve.v1.Answer;

/** A command that is not over, or whose failure was not told yet. Its changing fields are guarded by the conversation's lock. */
final class Pending {
  final long number;
  /** 0 = on none. */
  final long stream;
  final String place;
  /** Where its chunks go; null where none are expected. */
  final Chunks chunks;
  boolean over;
  Answer answer;
  OpserveException error;

  Pending(long number, long stream, String place, Chunks chunks) {
    this.number = number;
    this.stream = stream;
    this.place = place;
    this.chunks = chunks;
  }

  /** Whether a wait for another command waits for this one, too: it came earlier, on its stream or on none. */
  boolean precedes(Pending other) {
    return number < other.number && (stream == 0 || other.stream == 0 || stream == other.stream);
  }
}
