package dev.opserve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS, certificates of clients and tokens, against a real server; the certificates are openssl's. */
@Timeout(60)
class TlsTest {
  @TempDir static Path folder;

  private static Path at(String name) {
    return folder.resolve(name);
  }

  private static void openssl(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("openssl"));
    command.addAll(List.of(words));
    Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
        .redirectOutput(at("openssl.log").toFile()).start();
    assertEquals(0, process.waitFor(), () -> String.join(" ", command));
  }

  private static void issue(String name) throws Exception {
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", name + ".key");
    openssl("req", "-new", "-key", name + ".key", "-subj", "/CN=" + name, "-out", name + ".csr");
    openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30", "-extfile",
        "names", "-out", name + ".pem");
  }

  @BeforeAll
  static void certificates() throws Exception {
    boolean there = Stream.of(System.getenv("PATH").split(":")).anyMatch(path -> Files.isExecutable(Path.of(path, "openssl")));
    assumeTrue(there, "openssl is not installed");
    Files.writeString(at("names"), "subjectAltName = DNS:localhost\n");
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "ca.key");
    openssl("req", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=authority", "-days", "30", "-out", "ca.pem");
    issue("server");
    issue("client");
  }

  private static TestServer server(String... flags) throws Exception {
    List<String> all = new ArrayList<>(List.of("--tls-cert", at("server.pem").toString(), "--tls-key", at("server.key").toString()));
    all.addAll(List.of(flags));
    return new TestServer(all.toArray(String[]::new));
  }

  private static int devices(ClientBuilder builder) {
    try (Client client = builder.connect()) {
      return client.devices().size();
    }
  }

  @Test
  void anAuthorityOfTheProgramsOwn() throws Exception {
    try (TestServer server = server()) {
      assertEquals(1, devices(Client.builder(server.address()).tls(at("ca.pem"))));
      String numbered = server.address().replace("localhost", "127.0.0.1");
      assertEquals(1, devices(Client.builder(numbered).tls(at("ca.pem")).serverName("localhost")));
      assertThrows(UnavailableException.class, () -> devices(Client.builder(numbered).tls(at("ca.pem"))));
      assertThrows(UnavailableException.class, () -> devices(Client.builder(server.address()).tls()));
      assertEquals(1, devices(Client.builder(server.address(), server.address()).tls(at("ca.pem"))));
      assertThrows(IllegalArgumentException.class, () -> devices(Client.builder(server.address()).tls(at("nothing.pem"))));
    }
  }

  @Test
  void aCertificateToShow() throws Exception {
    try (TestServer server = server("--tls-client-ca", at("ca.pem").toString())) {
      assertEquals(
          1, devices(Client.builder(server.address()).tls(at("ca.pem")).certificate(at("client.pem"), at("client.key"))));
      assertThrows(UnavailableException.class, () -> devices(Client.builder(server.address()).tls(at("ca.pem"))));
    }
  }

  @Test
  void tokens() throws Exception {
    String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest("secret".getBytes()));
    Files.writeString(at("tokens"), "tests discover sha256:" + hash + "\n");
    try (TestServer server = server("--token-file", at("tokens").toString())) {
      ClientBuilder builder = Client.builder(server.address()).tls(at("ca.pem"));
      assertEquals("UNAUTHENTICATED", assertThrows(AccessDeniedException.class, () -> devices(builder)).reason());
      try (Client client = builder.token("secret").connect()) {
        Call call = Call.of("Relu").input("self", 1f);
        assertEquals("PERMISSION_DENIED", assertThrows(AccessDeniedException.class, () -> client.execute(call)).reason());
        assertThrows(AccessDeniedException.class, client::session);
      }
    }
  }
}
