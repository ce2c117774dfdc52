package dev.opserve;

import dev.opserve.v1.Command;
import dev.opserve.v1.CreateEventCommand;
import dev.opserve.v1.DestroyEventCommand;
import dev.opserve.v1.QueryElapsedTimeCommand;
import dev.opserve.v1.QueryEventCommand;
import dev.opserve.v1.RecordEventCommand;
import dev.opserve.v1.SynchronizeCommand;
import java.time.Duration;

/** A mark: reached when all that was on a stream, as the event was recorded there, has ended. */
public final class Event extends Handle {
  Event(Session session, long id) {
    super(
        session, id,
        Command.newBuilder().setCreateEvent(CreateEventCommand.newBuilder().setEvent(id).setContext(session.context())),
        Command.newBuilder().setDestroyEvent(DestroyEventCommand.newBuilder().setEvent(id)));
  }

  /**
   * Records it on the session's default stream.
   *
   * @return this
   */
  public Event record() {
    return record(session().defaultStream());
  }

  /**
   * Records it.
   *
   * @param stream the stream whose work it marks
   * @return this
   */
  public Event record(Stream stream) {
    send(stream, Command.newBuilder().setRecordEvent(RecordEventCommand.newBuilder().setEvent(id()).setStream(stream.id())));
    return this;
  }

  /**
   * Whether the latest recording was reached.
   *
   * @return true if so
   */
  public boolean isReached() {
    return session().answerOf(send(null, Command.newBuilder().setQueryEvent(QueryEventCommand.newBuilder().setEvent(id()))))
        .getEvent().getReached();
  }

  /** Waits until it was reached. */
  public void synchronize() {
    session().answerOf(send(null, Command.newBuilder().setSynchronize(SynchronizeCommand.newBuilder().setEvent(id()))));
  }

  /**
   * The time from another event to this one; both must have been reached.
   *
   * @param start the other
   * @return negative where {@code start} was reached later
   */
  public Duration since(Event start) {
    var query = QueryElapsedTimeCommand.newBuilder().setStart(start.id()).setEnd(id());
    return Duration.ofNanos(
        session().answerOf(send(null, Command.newBuilder().setQueryElapsedTime(query))).getElapsedTime().getElapsedNs());
  }
}
