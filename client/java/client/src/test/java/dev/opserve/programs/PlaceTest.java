package dev.opserve.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.opserve.Client;
import dev.opserve.DataType;
import dev.opserve.DeviceTensor;
import dev.opserve.InvalidArgumentException;
import dev.opserve.Session;
import dev.opserve.TestServer;
import org.junit.jupiter.api.Test;

/** What a program sees that is no part of the client's package. */
class PlaceTest {
  @Test
  void aFailedCommandNamesTheProgramsLine() throws Exception {
    try (TestServer server = new TestServer(); Client client = Client.connect(server.address());
        Session session = client.session()) {
      DeviceTensor x = session.empty(DataType.FLOAT32, 8);
      x.copyFrom(session.empty(DataType.FLOAT32, 3));
      String place = "PlaceTest.java:" + (new Throwable().getStackTrace()[0].getLineNumber() - 1);
      InvalidArgumentException error = assertThrows(InvalidArgumentException.class, session::synchronize);
      assertEquals(place, error.place());
      assertTrue(error.getMessage().endsWith("(command " + error.command().getAsLong() + ", given at " + place + ")"));
    }
  }
}
