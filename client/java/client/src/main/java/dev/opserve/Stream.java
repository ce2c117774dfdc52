package dev.opserve;

import dev.opserve.v1.Command;
import dev.opserve.v1.CreateStreamCommand;
import dev.opserve.v1.DestroyStreamCommand;
import dev.opserve.v1.QueryStreamCommand;
import dev.opserve.v1.SynchronizeCommand;
import dev.opserve.v1.WaitEventCommand;
import java.util.concurrent.CompletableFuture;

/** Work in order, beside that of other streams. What a command of it fails with stops those behind it until that is told. */
public final class Stream extends Handle {
  Stream(Session session, long id) {
    super(
        session, id,
        Command.newBuilder().setCreateStream(CreateStreamCommand.newBuilder().setStream(id).setContext(session.context())),
        Command.newBuilder().setDestroyStream(DestroyStreamCommand.newBuilder().setStream(id)));
  }

  private Pending sendSynchronize() {
    return send(this, Command.newBuilder().setSynchronize(SynchronizeCommand.newBuilder().setStream(id())));
  }

  /** Waits until all that is on it is done. Throws the first failure. */
  public void synchronize() {
    session().answerOf(sendSynchronize());
  }

  /**
   * As {@link #synchronize}, without waiting.
   *
   * @return complete when all that is on it is done
   */
  public CompletableFuture<Void> synchronizeAsync() {
    return session().whenAnswered(sendSynchronize(), answer -> null);
  }

  /**
   * Whether nothing runs and nothing waits.
   *
   * @return true if so
   */
  public boolean isIdle() {
    return session().answerOf(send(this, Command.newBuilder().setQueryStream(QueryStreamCommand.newBuilder().setStream(id()))))
        .getStream().getIdle();
  }

  /**
   * Has what comes later on this stream run once an event was reached. (Not {@code wait}, which every object of Java has.)
   *
   * @param event recorded before
   */
  public void await(Event event) {
    send(this, Command.newBuilder().setWaitEvent(WaitEventCommand.newBuilder().setEvent(event.id()).setStream(id())));
  }
}
