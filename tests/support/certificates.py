"""Certificates for tests, by Debian's openssl."""

import dataclasses
import pathlib
import subprocess
import time


@dataclasses.dataclass
class Pair:
    """Files in PEM."""

    certificate: pathlib.Path
    key: pathlib.Path

    def bytes(self):
        return self.certificate.read_bytes(), self.key.read_bytes()


def openssl(*words):
    ended = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"openssl {words}: {ended.stderr}")
    return ended.stdout


def make_key(path):
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)


class Authority:
    """Vouches for others by its own certificate, `certificate`."""

    def __init__(self, folder, name="authority"):
        self._folder, self._name, self._issued = folder, name, 0
        self.certificate, self._key = folder / f"{name}.pem", folder / f"{name}.key"
        make_key(self._key)
        openssl("req", "-x509", "-new", "-key", self._key, "-subj", f"/CN={name}", "-days", "30", "-out", self.certificate)

    def issue(self, name="localhost", expired=False, days=30):
        """A key, and a certificate of it for localhost and 127.0.0.1."""
        self._issued += 1
        stem = self._folder / f"{self._name}-{self._issued}"
        pair = Pair(stem.with_suffix(".pem"), stem.with_suffix(".key"))
        make_key(pair.key)
        request, extensions = stem.with_suffix(".csr"), stem.with_suffix(".ext")
        extensions.write_text("subjectAltName = DNS:localhost, IP:127.0.0.1\n", encoding="ascii")
        openssl("req", "-new", "-key", pair.key, "-subj", f"/CN={name}", "-out", request)
        # A certificate of no days has expired by the next second.
        days = "0" if expired else str(days)
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial", "-days", days,
                "-extfile", extensions, "-out", pair.certificate)
        if expired:
            time.sleep(1.1)
        return pair
