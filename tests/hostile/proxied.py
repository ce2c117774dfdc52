"""The same server with deploy/proxy/haproxy.cfg in front: attackers and the victim reach the proxy alone."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import running_proxy  # noqa: E402

from server import Server, Usage, usage_of  # noqa: E402


def is_possible() -> bool:
    return running_proxy.program() is not None


class ProxiedServer(Server):
    """`address` is the proxy's; the test itself asks the server."""

    def __init__(
        self,
        folder: pathlib.Path,
        flags: dict[str, str | None],
        drain_seconds: float = 2.0,
        limits: dict[int, int] | None = None,
    ):
        super().__init__(folder, {**running_proxy.BEHIND, **flags}, drain_seconds, limits)
        try:
            self._proxy = running_proxy.Proxy(folder, self.address)
        except BaseException:
            super().kill()
            raise
        self.address = self._proxy.address

    def alive(self) -> bool:
        """Neither may end."""
        return super().alive() and (not hasattr(self, "_proxy") or self._proxy.alive())

    def ended_how(self) -> str:
        return "the proxy died" if super().alive() else super().ended_how()

    def usage(self) -> Usage:
        """Of both together: moving the work is not stopping it."""
        server, proxy = super().usage(), usage_of(self._proxy.pid)
        if server.threads == 0:
            return server
        return Usage(
            *(getattr(server, name) + getattr(proxy, name) for name in ("rss_mib", "threads", "fds", "cpu_seconds"))
        )

    def passed(self) -> dict[str, int]:
        """How much of what came to the proxy went on to the server."""
        names = {
            "connections": 'haproxy_frontend_connections_total{proxy="opserve"}',
            "calls": 'haproxy_frontend_http_requests_total{proxy="opserve"}',
            "calls passed on": 'haproxy_server_sessions_total{proxy="servers",server="one"}',
        }
        return {what: int(self._proxy.metric(name) or 0) for what, name in names.items()}

    def kill(self) -> None:
        self._proxy.kill()
        super().kill()
