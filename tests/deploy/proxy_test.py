"""opserve behind HAProxy, as deploy/proxy/haproxy.cfg has it.

Usage: proxy_test.py config|plain|tls|tls_servers     (the programs are in $OPSERVE_BIN_DIR)

config: haproxy takes it, without and with all it takes from the environment. plain, tls, tls_servers (which have TLS, too):
calls, a session, health, and what is not served.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/hostile"), str(ROOT / "client/python/src")]

import certificates
import running_proxy
import running_server
import toolchains
import victim
import wire

BEHIND = [word for pair in running_proxy.BEHIND.items() for word in pair]
INFO, EXECUTE = "/opserve.v1.OperatorService/GetServerInfo", "/opserve.v1.OperatorService/Execute"
SESSION, HEALTH = "/opserve.v1.SessionService/Session", "/grpc.health.v1.Health/Check"
SMALL_INPUTS = [wire.floats(*[value] * 8) for value in (2.0, 3.0, 1.0)]
SERVING = wire.field(1, 1)
PATIENCE_SECONDS = 20


def expect(condition, message):
    if not condition:
        sys.exit(message)


def grpc_of_debian():
    try:
        import grpc
    except ImportError:
        toolchains.lacking("python3-grpcio")
    return grpc


def make_certificate(folder):
    """The certificate, beside it (as .key) its private key; and one PEM file of both."""
    if not shutil.which("openssl"):
        toolchains.lacking("openssl")
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificates.make_key(key)
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    certificates.openssl("req", "-x509", "-new", "-key", key, "-days", "2", "-subj", "/CN=localhost", "-addext", names, "-out", certificate)
    both = folder / "both.pem"
    both.write_text(certificate.read_text(encoding="utf-8") + key.read_text(encoding="utf-8"), encoding="utf-8")
    return certificate, both


def check_config(folder):
    certificate, both = make_certificate(folder)
    named = set(re.findall(r"\bOPSERVE_\w+", running_proxy.CONFIGURATION.read_text(encoding="utf-8")))
    servers = {f"OPSERVE_SERVER_{i}": f"127.0.0.1:{8500 + i}" for i in (1, 2, 3)}
    for places in (
        {},
        servers,
        {**servers, "OPSERVE_PROXY_PLAIN": "127.0.0.1:8480", "OPSERVE_PROXY_STATS": "*:8404"},
        {**servers, "OPSERVE_PROXY_SERVER_CA": str(certificate), "OPSERVE_PROXY_SERVER_NAME": "localhost"},
        {"OPSERVE_SERVER_1": "unix@/run/opserve/grpc", "OPSERVE_PROXY_SIDECAR": "1"},
    ):
        for pem in (certificate, both):
            check_taken({**places, "OPSERVE_PROXY_CERT": str(pem)}, named)


def check_taken(places, named):
    expect(set(places) <= named, f"the configuration does not name {set(places) - named}")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OPSERVE_")}
    told = subprocess.run(
        [running_proxy.program(), "-c", "-f", running_proxy.CONFIGURATION],
        env={**clean, **places},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    expect(told.returncode == 0 and "WARNING" not in told.stdout, f"with {places}, haproxy says:\n{told.stdout}")


def check_calls(grpc, channel):
    call = channel.unary_unary(EXECUTE)
    for request, answer in ((victim.SMALL_REQUEST, victim.SMALL_ANSWER), (victim.MEDIUM_REQUEST, victim.MEDIUM_ANSWER)):
        expect(answer in call(request, timeout=PATIENCE_SECONDS), "want the result of an Execute")
    answers = list(channel.stream_stream(SESSION)(iter([victim.SESSION_REQUEST]), timeout=PATIENCE_SECONDS))
    expect(any(victim.SMALL_ANSWER in answer for answer in answers), f"want a session's result, got {answers}")
    expect(channel.unary_unary(HEALTH)(b"", timeout=PATIENCE_SECONDS) == SERVING, "want SERVING")
    for path in ("/opserve.v2.Other/Call", "/grpc.channelz.v1.Channelz/GetServers"):
        try:
            channel.unary_unary(path)(b"", timeout=PATIENCE_SECONDS)
            sys.exit(f"{path} was answered")
        except grpc.RpcError as error:
            expect(
                error.code() == grpc.StatusCode.UNIMPLEMENTED and error.details() == "not served here",
                f"{path}: want the proxy's UNIMPLEMENTED, got {error.code()}: {error.details()}",
            )


def check_session_both_ways(channel):
    """Each request is sent once the one before it is answered, on one stream."""
    answered = threading.Semaphore(1)

    def requests():
        for id in (1, 2, 3):
            answered.acquire(timeout=PATIENCE_SECONDS)
            yield wire.session_request([wire.command(wire.EXECUTE, wire.ids(wire.small_gradient()), id)], SMALL_INPUTS)

    found = 0
    for answer in channel.stream_stream(SESSION)(requests(), timeout=PATIENCE_SECONDS):
        if victim.SMALL_ANSWER in answer:
            found += 1
            answered.release()
    expect(found == 3, f"want three answers in a session, got {found}")


def check_plain(folder):
    grpc = grpc_of_debian()
    with running_server.running_server(folder, *BEHIND) as server:
        proxy = running_proxy.Proxy(folder, server)
        try:
            with grpc.insecure_channel(proxy.address) as channel:
                check_calls(grpc, channel)
                check_session_both_ways(channel)
            output = subprocess.run(
                [running_server.bin_folder() / "opserve", "info", "--target", proxy.address],
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=PATIENCE_SECONDS,
            )
            expect(output.returncode == 0 and "version" in output.stdout, f"opserve info: {output.stdout}")
            check_soft_stop(grpc, proxy)
        finally:
            proxy.kill()
        check_limit_of_calls(grpc, folder, server)
        check_without_server(grpc, folder)


def check_limit_of_calls(grpc, folder, server):
    """Above it calls are refused with a reason, and above twice as many dropped."""
    limit = 20
    outcomes = ["OK"]
    proxy = running_proxy.Proxy(folder, server, calls_in_ten_seconds=limit)
    try:
        with grpc.insecure_channel(proxy.address) as channel:
            while outcomes[-1] in ("OK", "refused") and len(outcomes) < 5 * limit:
                outcomes.append(outcome_of(grpc, channel))
    finally:
        proxy.kill()
    expect(outcomes[: limit + 1] == ["OK"] * (limit + 1), f"want {limit} calls that succeed first, got {outcomes}")
    # The rate is one of a window that slides.
    refused = outcomes.count("refused")
    expect(limit / 2 <= refused <= 2 * limit, f"want about {limit} calls that are refused, got {outcomes}")
    # The connection ends silently: root's HAProxy does not even reset it.
    expect(outcomes[-1] in ("UNAVAILABLE", "DEADLINE_EXCEEDED"), f"want a call that is dropped last, got {outcomes}")


def outcome_of(grpc, channel):
    from opserve.errors import error_of_rpc  # it needs gRPC

    try:
        channel.unary_unary(INFO)(b"", timeout=10)
        return "OK"
    except grpc.RpcError as failure:
        if failure.code() != grpc.StatusCode.RESOURCE_EXHAUSTED:
            return failure.code().name
        error = error_of_rpc(failure)
        told = (str(error), error.reason, error.parameter, error.retry_after)
        expect(told == (f"RESOURCE_LIMIT: {failure.details()}", "RESOURCE_LIMIT", "calls", 1.0), f"want the proxy's details, got {told}")
        return "refused"


def check_without_server(grpc, folder):
    """Said as gRPC says it, so that clients try again."""
    proxy = running_proxy.Proxy(folder, f"unix@{folder}/nobody", sidecar=True)
    try:
        with grpc.insecure_channel(proxy.address) as channel:
            channel.unary_unary(INFO)(b"", timeout=PATIENCE_SECONDS)
        sys.exit("a call without a server was answered")
    except grpc.RpcError as error:
        said = (error.code(), error.details())
        expect(said == (grpc.StatusCode.UNAVAILABLE, "no server takes calls"), f"without a server, got {error}")
    finally:
        proxy.kill()


def check_soft_stop(grpc, proxy):
    """SIGUSR1: a session goes on until its client ends it; then the proxy does."""
    goes_on = threading.Event()

    def requests():
        yield victim.SESSION_REQUEST
        goes_on.wait(PATIENCE_SECONDS)

    with grpc.insecure_channel(proxy.address) as channel:
        answers = channel.stream_stream(SESSION)(requests(), timeout=PATIENCE_SECONDS)
        next(answers)
        proxy.stop_softly()
        time.sleep(0.5)
        expect(proxy.alive(), "the proxy left a session alone")
        goes_on.set()
        list(answers)
    expect(proxy.await_exit(PATIENCE_SECONDS) == 0, f"want a proxy that ends well:\n{proxy.log_text()}")


def check_tls(folder):
    grpc = grpc_of_debian()
    certificate, both = make_certificate(folder)
    with running_server.running_server(folder, *BEHIND) as server:
        proxy = running_proxy.Proxy(folder, server, certificate=both)
        target = proxy.address.replace("127.0.0.1", "localhost")
        try:
            credentials = grpc.ssl_channel_credentials(certificate.read_bytes())
            with grpc.secure_channel(target, credentials) as channel:
                check_calls(grpc, channel)
                check_session_both_ways(channel)
            check_refused(grpc, "no TLS", grpc.insecure_channel(target))
            anothers, _ = make_certificate(folder)
            credentials = grpc.ssl_channel_credentials(anothers.read_bytes())
            check_refused(grpc, "trust in another's certificate", grpc.secure_channel(target, credentials))
        finally:
            proxy.kill()


def check_tls_servers(folder):
    """A server's certificate must be of the right authority, and for the right name."""
    grpc = grpc_of_debian()
    authority, other = certificates.Authority(folder), certificates.Authority(folder, "other")
    pair = authority.issue()
    with running_server.running_server(folder, *BEHIND, "--tls-cert", pair.certificate, "--tls-key", pair.key) as server:
        proxy = running_proxy.Proxy(folder, server, server_ca=authority.certificate, server_name="localhost")
        try:
            with grpc.insecure_channel(proxy.address) as channel:
                check_calls(grpc, channel)
                check_session_both_ways(channel)
        finally:
            proxy.kill()
        for wrong in ({"server_ca": other.certificate, "server_name": "localhost"},
                      {"server_ca": authority.certificate, "server_name": "elsewhere"}):
            proxy = running_proxy.Proxy(folder, server, **wrong, begins="DOWN")
            try:
                check_refused(grpc, f"a server that is not {wrong}", grpc.insecure_channel(proxy.address))
            finally:
                proxy.kill()


def check_refused(grpc, what, channel):
    with channel:
        try:
            channel.unary_unary(INFO)(b"", timeout=3)
            sys.exit(f"a call with {what} was answered")
        except grpc.RpcError as error:
            expect(error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED), f"{what}: {error}")


def main():
    if running_proxy.program() is None:
        toolchains.lacking("haproxy")
    checks = {
        "config": check_config,
        "plain": check_plain,
        "tls": check_tls,
        "tls_servers": check_tls_servers,
    }
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        checks[sys.argv[1]](pathlib.Path(folder))


if __name__ == "__main__":
    main()
