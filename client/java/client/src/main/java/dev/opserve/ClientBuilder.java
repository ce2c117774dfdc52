package dev.opserve;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** How a {@link Client} reaches its server. */
public final class ClientBuilder {
  private final List<String> targets;
  private Duration timeout = Duration.ofSeconds(5);
  private boolean tls;
  private Path certificates;
  private Path certificate;
  private Path key;
  private ChannelCredentials credentials;
  private String serverName;
  private String token;
  private int maxAnswerBytes = 1 << 30;

  ClientBuilder(List<String> targets) {
    this.targets = targets;
  }

  static Duration checked(Duration timeout) {
    if (timeout.isZero() || timeout.isNegative()) {
      throw new IllegalArgumentException("timeout: want > 0, got " + timeout);
    }
    return timeout;
  }

  /**
   * What each call may take, with its retries; five seconds unless said. {@link Client#withTimeout} says otherwise for single calls.
   *
   * @param timeout more than nothing
   * @return this
   */
  public ClientBuilder timeout(Duration timeout) {
    this.timeout = checked(timeout);
    return this;
  }

  /**
   * Encrypts, and takes servers that this Java's certificate authorities vouch for.
   *
   * @return this
   */
  public ClientBuilder tls() {
    tls = true;
    return this;
  }

  /**
   * Encrypts, and takes servers that these authorities vouch for.
   *
   * @param authorities a file of certificates in PEM
   * @return this
   */
  public ClientBuilder tls(Path authorities) {
    certificates = Objects.requireNonNull(authorities, "authorities");
    return tls();
  }

  /**
   * Encrypts, and shows a certificate of this client's own (mutual TLS).
   *
   * @param chain a file with the certificate in PEM, and those that lead to its authority
   * @param privateKey a file with its private key: PKCS#8, in PEM without a pass phrase
   * @return this
   */
  public ClientBuilder certificate(Path chain, Path privateKey) {
    certificate = Objects.requireNonNull(chain, "chain");
    key = Objects.requireNonNull(privateKey, "privateKey");
    return tls();
  }

  /**
   * Encrypts as gRPC's own credentials say; they take the place of the other settings of TLS.
   *
   * @param credentials gRPC's
   * @return this
   */
  public ClientBuilder credentials(ChannelCredentials credentials) {
    this.credentials = Objects.requireNonNull(credentials, "credentials");
    return this;
  }

  /**
   * The name that the server's certificate must have, where it is not the target's.
   *
   * @param name a host name
   * @return this
   */
  public ClientBuilder serverName(String name) {
    serverName = Objects.requireNonNull(name, "name");
    return this;
  }

  /**
   * A token that goes with each call, as {@code authorization: Bearer TOKEN}: over TLS, or on this machine.
   *
   * @param token the token
   * @return this
   */
  public ClientBuilder token(String token) {
    this.token = Objects.requireNonNull(token, "token");
    return this;
  }

  /**
   * The largest answer that is taken; one GiB unless said.
   *
   * @param bytes more than 0
   * @return this
   */
  public ClientBuilder maxAnswerBytes(int bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("maxAnswerBytes: want > 0, got " + bytes);
    }
    maxAnswerBytes = bytes;
    return this;
  }

  /**
   * Connects, and asks the server for its limits.
   *
   * @return the client
   * @throws OpserveException if no server answers there
   * @throws IllegalArgumentException if a target is none, a file of TLS cannot be read, or a token would go over a network in clear text
   */
  public Client connect() {
    if (token != null && !tls && credentials == null && !Targets.local(targets)) {
      throw new IllegalArgumentException(
          "token: want TLS on its way to " + String.join(",", targets) + ", got clear text, which anyone could read");
    }
    return Client.over(new Connection(targets, used(), serverName, token, maxAnswerBytes), timeout);
  }

  private ChannelCredentials used() {
    if (credentials != null) {
      return credentials;
    }
    if (!tls) {
      return InsecureChannelCredentials.create();
    }
    TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
    try {
      if (certificates != null) {
        builder.trustManager(readable(certificates).toFile());
      }
      if (certificate != null) {
        builder.keyManager(readable(certificate).toFile(), readable(key).toFile());
      }
    } catch (IOException error) {
      throw new IllegalArgumentException("tls: " + error.getMessage(), error);
    }
    return builder.build();
  }

  private static Path readable(Path file) throws IOException {
    if (!Files.isReadable(file)) {
      throw new IOException(file + " cannot be read");
    }
    return file;
  }
}
