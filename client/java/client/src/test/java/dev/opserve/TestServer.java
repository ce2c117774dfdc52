package dev.opserve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** An opserve-server on a free port: the program of $OPSERVE_BIN_DIR. */
public final class TestServer implements AutoCloseable {
  private static final int START_SECONDS = 60;

  private final Path folder;
  private final Process process;
  private final String address;

  public TestServer(String... flags) throws IOException, InterruptedException {
    this(List.of("--listen", "localhost:0"), flags);
  }

  TestServer(List<String> listen, String... flags) throws IOException, InterruptedException {
    folder = Files.createTempDirectory("opserve-java-");
    Path port = folder.resolve("address");
    List<String> command = new ArrayList<>(List.of(program(), "--port-file", port.toString()));
    command.addAll(listen);
    command.addAll(List.of(flags));
    process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(folder.resolve("log").toFile()).start();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!Files.exists(port)) { // it appears whole
      if (!process.isAlive() || System.nanoTime() > deadline) {
        close();
        throw new IOException("the server did not start:\n" + Files.readString(folder.resolve("log")));
      }
      Thread.sleep(20);
    }
    address = Files.readString(port).split("\\s")[0];
  }

  private static String program() {
    String folder = System.getenv("OPSERVE_BIN_DIR");
    if (folder == null) {
      throw new IllegalStateException("OPSERVE_BIN_DIR must name the folder of opserve-server");
    }
    return Path.of(folder, "opserve-server").toString();
  }

  public String address() {
    return address;
  }

  Client connect() {
    return Client.builder(address).timeout(java.time.Duration.ofSeconds(60)).connect();
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
