"""Headers of HTTP/2: what a client needs to write any, and to read those of gRPC, which is told to keep no table."""

STATIC = [
    ":authority",
    ":method",
    ":method",
    ":path",
    ":path",
    ":scheme",
    ":scheme",
    ":status",
    ":status",
    ":status",
    ":status",
    ":status",
    ":status",
    ":status",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "accept",
    "access-control-allow-origin",
    "age",
    "allow",
    "authorization",
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-range",
    "content-type",
    "cookie",
    "date",
    "etag",
    "expect",
    "expires",
    "from",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "last-modified",
    "link",
    "location",
    "max-forwards",
    "proxy-authenticate",
    "proxy-authorization",
    "range",
    "referer",
    "refresh",
    "retry-after",
    "server",
    "set-cookie",
    "strict-transport-security",
    "transfer-encoding",
    "user-agent",
    "vary",
    "via",
    "www-authenticate",
]
STATUSES = {8: "200", 9: "204", 10: "206", 11: "304", 12: "400", 13: "404", 14: "500"}


def integer(value: int, prefix_bits: int, first_byte: int = 0) -> bytes:
    most = (1 << prefix_bits) - 1
    if value < most:
        return bytes([first_byte | value])
    out = bytearray([first_byte | most])
    value -= most
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def string(text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return integer(len(raw), 7) + raw


def literal(name: str | bytes, value: str | bytes) -> bytes:
    """A header that no table knows and none keeps."""
    return b"\0" + string(name) + string(value)


def kept(name: str | bytes, value: str | bytes) -> bytes:
    """A header that the receiver's table keeps: index 62 names it next."""
    return b"\x40" + string(name) + string(value)


def indexed(index: int) -> bytes:
    return integer(index, 7, 0x80)


class Reader:
    """Names and values of a block without Huffman codes; what is coded reads as empty."""

    def __init__(self, block: bytes):
        self._block, self._at = block, 0
        self._table: list[tuple[str, str]] = []

    def headers(self) -> list[tuple[str, str]]:
        found = []
        while self._at < len(self._block):
            byte = self._block[self._at]
            if byte & 0x80:
                found.append(self._entry(self._integer(7)))
            elif byte & 0xE0 == 0x20:
                self._integer(5)  # the table's size
            else:
                keeps = byte & 0x40
                index = self._integer(6 if keeps else 4)
                header = (self._entry(index)[0] if index else self._string(), self._string())
                found.append(header)
                if keeps:
                    self._table.insert(0, header)
        return found

    def _entry(self, index: int) -> tuple[str, str]:
        if 1 <= index <= len(STATIC):
            return STATIC[index - 1], STATUSES.get(index, "")
        at = index - len(STATIC) - 1
        return self._table[at] if at < len(self._table) else ("", "")

    def _integer(self, prefix_bits: int) -> int:
        most = (1 << prefix_bits) - 1
        value = self._block[self._at] & most
        self._at += 1
        if value < most:
            return value
        shift = 0
        while True:
            byte = self._block[self._at]
            self._at += 1
            value += (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _string(self) -> str:
        coded = self._block[self._at] & 0x80
        length = self._integer(7)
        raw = self._block[self._at : self._at + length]
        self._at += length
        return "" if coded else raw.decode("latin-1")
