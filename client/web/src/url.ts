// Where a server is.

/** The URL of a server, below which its paths are. In a page it may be relative. RangeError for what is none. */
export function baseOf(url: string | URL): URL {
  const page = (globalThis as { location?: { href?: string } }).location?.href;
  const wrong = () =>
    new RangeError(`url: want "http://host:port" or "https://host", got ${JSON.stringify(String(url))}`);
  let base: URL;
  try {
    base = new URL(url, page);
  } catch {
    throw wrong();
  }
  const isPlain = base.search === '' && base.hash === '' && base.username === '' && base.password === '';
  if (!isPlain || !/^https?:$/.test(base.protocol)) throw wrong();
  return base;
}

/** TypeError for a token that would be sent in clear text, or that no header can have. */
export function checkToken({ protocol, hostname, host }: URL, token: string | undefined): void {
  if (token === undefined) return;
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError('token: want visible ASCII characters, got others');
  const isLocal = /^(localhost|.*\.localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  if (protocol !== 'https:' && !isLocal) {
    throw new TypeError(`token: want https on its way to ${host}, where anyone could read it in clear text`);
  }
}
