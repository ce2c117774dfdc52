package dev.opserve;

import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import io.grpc.StatusOr;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where servers are: one target as gRPC has them, or several {@code host:port} whose calls are spread over them. */
final class Targets {
  static final String VARIABLE = "OPSERVE_TARGET";
  private static final String DEFAULT = "localhost:8500";
  private static final String SCHEME = "opserve-list";
  private static final Pattern HOST_PORT = Pattern.compile("(\\[[^\\[\\]/,]+\\]|[^:\\[\\]/ ,]+):([0-9]{1,5})");
  private static final List<String> LOCAL = List.of("localhost", "127.0.0.1", "[::1]");

  static {
    NameResolverRegistry.getDefaultRegistry().register(new Provider());
  }

  private Targets() {}

  /** What is dialled where the program names nothing. */
  static List<String> byDefault() {
    String named = System.getenv(VARIABLE);
    return named == null || named.isEmpty() ? List.of(DEFAULT) : List.of(named.split(","));
  }

  /** gRPC's target for them. IllegalArgumentException for what is none: gRPC takes a missing port for another one. */
  static String joined(List<String> targets) {
    if (targets.isEmpty()) {
      throw new IllegalArgumentException("target: want host:port, dns:///host:port or unix:path, got nothing");
    }
    for (String target : targets) {
      boolean alone = targets.size() == 1 && (target.startsWith("unix:") || target.startsWith("dns:"));
      if (!alone && !isHostAndPort(target)) {
        String want = targets.size() == 1 ? "host:port, dns:///host:port or unix:path" : "host:port for each of several";
        throw new IllegalArgumentException("target: want " + want + ", got '" + target + "'");
      }
    }
    // A slash in front keeps gRPC from taking "host:port" for a scheme.
    String first = targets.get(0);
    return targets.size() > 1 ? SCHEME + ":///" + String.join(",", targets) : first.startsWith("unix:") || first.startsWith("dns:")
        ? first : "dns:///" + first;
  }

  /** Whether calls go to several servers in turn. */
  static boolean spread(List<String> targets) {
    return targets.size() > 1 || targets.get(0).startsWith("dns:");
  }

  /** Whether what is sent stays on this machine. */
  static boolean local(List<String> targets) {
    return targets.stream().allMatch(target -> {
      Matcher matcher = HOST_PORT.matcher(target);
      return target.startsWith("unix:") || (matcher.matches() && LOCAL.contains(matcher.group(1)));
    });
  }

  private static boolean isHostAndPort(String target) {
    Matcher matcher = HOST_PORT.matcher(target);
    if (!matcher.matches()) {
      return false;
    }
    int port = Integer.parseInt(matcher.group(2));
    return port >= 1 && port <= 65535;
  }

  private static final class Provider extends NameResolverProvider {
    @Override
    public NameResolver newNameResolver(URI target, NameResolver.Args args) {
      return SCHEME.equals(target.getScheme()) ? new Resolver(target.getPath().substring(1).split(","), args) : null;
    }

    @Override
    public String getDefaultScheme() {
      return SCHEME;
    }

    @Override
    protected boolean isAvailable() {
      return true;
    }

    @Override
    protected int priority() {
      return 0; // below gRPC's own, so that none of their targets comes here
    }
  }

  /** Looks each host up by itself: one that is not found does not keep calls from the others. */
  private static final class Resolver extends NameResolver {
    private final List<String> targets;
    private final Args args;
    private Listener2 listener;

    Resolver(String[] targets, Args args) {
      this.targets = Arrays.asList(targets);
      this.args = args;
    }

    @Override
    public String getServiceAuthority() {
      return targets.get(0);
    }

    @Override
    public void start(Listener2 toTell) {
      listener = toTell;
      refresh();
    }

    @Override
    public void refresh() {
      args.getOffloadExecutor().execute(() -> {
        ResolutionResult result = looked();
        args.getSynchronizationContext().execute(() -> listener.onResult2(result));
      });
    }

    private ResolutionResult looked() {
      List<EquivalentAddressGroup> groups = new ArrayList<>();
      Status failed = Status.UNAVAILABLE;
      for (String target : targets) {
        try {
          groups.add(groupOf(target));
        } catch (UnknownHostException unknown) {
          failed = Status.UNAVAILABLE.withDescription("no host of that name: " + target).withCause(unknown);
        }
      }
      return ResolutionResult.newBuilder()
          .setAddressesOrError(groups.isEmpty() ? StatusOr.fromStatus(failed) : StatusOr.fromValue(groups)).build();
    }

    private static EquivalentAddressGroup groupOf(String target) throws UnknownHostException {
      Matcher matcher = HOST_PORT.matcher(target);
      if (!matcher.matches()) {
        throw new UnknownHostException(target);
      }
      List<SocketAddress> addresses = new ArrayList<>();
      for (InetAddress address : InetAddress.getAllByName(matcher.group(1))) {
        addresses.add(new InetSocketAddress(address, Integer.parseInt(matcher.group(2))));
      }
      return new EquivalentAddressGroup(
          addresses,
          io.grpc.Attributes.newBuilder().set(EquivalentAddressGroup.ATTR_AUTHORITY_OVERRIDE, target).build());
    }

    @Override
    public void shutdown() {
      // Nothing is kept; an answer that is late is not listened to.
    }
  }
}
