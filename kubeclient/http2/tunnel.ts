/** Connects to a server through an HTTP proxy with CONNECT (RFC 9110) or through a SOCKS5 proxy (RFC 1928). */
import { connect, isIPv4, isIPv6, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['https:', 443],
  ['socks5:', 1080],
  ['socks5h:', 1080],
]);
/** Maximum number of characters in the headers of a proxy's response. */
const MAX_HEADER_CHARACTERS = 16 * 1024;

/** Returns a socket that is connected to the target. Rejects with the signal's reason or the proxy's error. */
export async function openTunnel(proxy: URL, target: TunnelTarget, signal: AbortSignal): Promise<Socket> {
  const socket = await connectToProxy(proxy, signal);
  const onAbort = () => socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const proxyReader = new ProxyReader(socket);
    if (proxy.protocol.startsWith('socks5')) await requestSocksTunnel(socket, proxyReader, proxy, target);
    else await requestHttpTunnel(socket, proxyReader, proxy, target);
    signal.throwIfAborted();
    return socket;
  } catch (error) {
    socket.destroy();
    throw signal.aborted
      ? signal.reason
      : new Error(`the proxy ${proxy.host}: ${errorMessage(error)}`, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const getHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

function connectToProxy(proxy: URL, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const host = getHost(proxy);
    const address = { host, port: proxy.port === '' ? (DEFAULT_PORTS.get(proxy.protocol) ?? 0) : Number(proxy.port) };
    const isTls = proxy.protocol === 'https:';
    const serverName = isIPv4(host) || isIPv6(host) ? {} : { servername: host };
    const socket = isTls ? connectTls({ ...address, ...serverName }) : connect(address);
    const onAbort = () => {
      socket.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // Do not remove this listener once the socket is connected. Its rejection then has no effect, but an error event
    // without a listener would crash the process.
    socket.on('error', (error) => reject(new Error(`the proxy ${proxy.host}: ${error.message}`, { cause: error })));
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    });
  });
}

/** Reads the proxy's response. Any bytes that follow the response come from the target and stay in the socket. */
class ProxyReader {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  async readBytes(count: number): Promise<Buffer> {
    for (;;) {
      const chunk = this.#socket.read(count);
      if (chunk instanceof Buffer && chunk.length === count) return chunk;
      await this.#waitUntilReadable();
    }
  }

  async readHeaders(): Promise<string> {
    let headers = '';
    while (!headers.endsWith('\r\n\r\n')) {
      headers += (await this.readBytes(1)).toString('latin1');
      if (headers.length > MAX_HEADER_CHARACTERS) throw new Error('it does not speak HTTP');
    }
    return headers;
  }

  #waitUntilReadable(): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      const createSettler = (complete: () => void) => () => {
        socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd);
        complete();
      };
      const onReadable = createSettler(resolve);
      const onEnd = createSettler(() => reject(new Error('it closed the connection')));
      socket.once('readable', onReadable).once('end', onEnd).once('close', onEnd);
    });
  }
}

const decodeComponent = (text: string): string => decodeURIComponent(text);

async function requestHttpTunnel(
  socket: Socket,
  proxyReader: ProxyReader,
  proxy: URL,
  { host, port }: TunnelTarget,
): Promise<void> {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const userInfo = `${decodeComponent(proxy.username)}:${decodeComponent(proxy.password)}`;
  const authorizationHeader =
    userInfo === ':' ? '' : `Proxy-Authorization: Basic ${Buffer.from(userInfo).toString('base64')}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorizationHeader}\r\n`);
  const headers = await proxyReader.readHeaders();
  const code = /^HTTP\/1\.[01] (\d{3})/.exec(headers)?.[1];
  if (code === undefined) throw new Error('it does not speak HTTP');
  if (!code.startsWith('2')) throw new Error(`it answered ${code} to CONNECT ${authority}`);
}

const SOCKS_VERSION = 5;
const NO_AUTHENTICATION_METHOD = 0;
const PASSWORD_METHOD = 2;
const SOCKS_REPLIES = [
  'succeeded',
  'it failed',
  'its rules forbid the connection',
  'the network is unreachable',
  'the host is unreachable',
  'the connection was refused',
  'the TTL expired',
  'it does not support CONNECT',
  'it does not support this type of address',
];

async function requestSocksTunnel(
  socket: Socket,
  proxyReader: ProxyReader,
  proxy: URL,
  { host, port }: TunnelTarget,
): Promise<void> {
  const authenticationMethods =
    proxy.username === '' ? [NO_AUTHENTICATION_METHOD] : [NO_AUTHENTICATION_METHOD, PASSWORD_METHOD];
  socket.write(Buffer.from([SOCKS_VERSION, authenticationMethods.length, ...authenticationMethods]));
  const [version, method] = await proxyReader.readBytes(2);
  if (version !== SOCKS_VERSION) throw new Error('it does not speak SOCKS5');
  if (method === PASSWORD_METHOD) await authenticate(socket, proxyReader, proxy);
  else if (method !== NO_AUTHENTICATION_METHOD)
    throw new Error('it requires an authentication method that is not supported');
  const targetAddress = encodeAddress(host);
  socket.write(
    Buffer.concat([Buffer.from([SOCKS_VERSION, 1, 0]), targetAddress, Buffer.from([port >> 8, port & 0xff])]),
  );
  const [, reply = 1, , addressType] = await proxyReader.readBytes(4);
  if (reply !== 0) throw new Error(SOCKS_REPLIES[reply] ?? `it failed with code ${reply}`);
  // Skip the proxy's bound address and port.
  const addressLength = addressType === 1 ? 4 : addressType === 4 ? 16 : ((await proxyReader.readBytes(1))[0] ?? 0);
  await proxyReader.readBytes(addressLength + 2);
}

async function authenticate(socket: Socket, proxyReader: ProxyReader, { username, password }: URL): Promise<void> {
  const [usernameBytes, passwordBytes] = [
    Buffer.from(decodeComponent(username)),
    Buffer.from(decodeComponent(password)),
  ];
  const authenticationFields = [
    Buffer.from([1, usernameBytes.length]),
    usernameBytes,
    Buffer.from([passwordBytes.length]),
    passwordBytes,
  ];
  socket.write(Buffer.concat(authenticationFields));
  const [, status] = await proxyReader.readBytes(2);
  if (status !== 0) throw new Error('it refused the user name and password');
}

/** Encodes the target's host. The proxy resolves names, as with client-go. */
function encodeAddress(host: string): Buffer {
  if (isIPv4(host)) return Buffer.from([1, ...host.split('.').map(Number)]);
  const nameBytes = Buffer.from(host);
  return Buffer.concat([Buffer.from([3, nameBytes.length]), nameBytes]);
}
