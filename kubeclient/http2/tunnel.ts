/** A connection to a server through a proxy: by CONNECT of HTTP (RFC 9110), or by SOCKS5 (RFC 1928). */
import { connect, isIPv4, isIPv6, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Target {
  readonly host: string;
  readonly port: number;
}

const PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['https:', 443],
  ['socks5:', 1080],
  ['socks5h:', 1080],
]);
/** A proxy that answers with more than this before the end of its headers is none. */
const LONGEST_HEAD = 16 * 1024;

/** Gives a socket that leads to the target, or rejects with the signal's reason, or with what the proxy said. */
export async function tunnel(proxy: URL, target: Target, signal: AbortSignal): Promise<Socket> {
  const socket = await connected(proxy, signal);
  const onAbort = () => socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const reader = new Reader(socket);
    if (proxy.protocol.startsWith('socks5')) await askSocks(socket, reader, proxy, target);
    else await askHttp(socket, reader, proxy, target);
    signal.throwIfAborted();
    return socket;
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : new Error(`the proxy ${proxy.host}: ${whyOf(error)}`, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const whyOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

function connected(proxy: URL, signal: AbortSignal): Promise<Socket> {
  return new Promise((done, fail) => {
    const host = hostOf(proxy);
    const place = { host, port: proxy.port === '' ? (PORTS.get(proxy.protocol) ?? 0) : Number(proxy.port) };
    const isTls = proxy.protocol === 'https:';
    const named = isIPv4(host) || isIPv6(host) ? {} : { servername: host };
    const socket = isTls ? connectTls({ ...place, ...named }) : connect(place);
    const onAbort = () => {
      socket.destroy();
      fail(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // Once it has been given away, errors are for who has it.
    socket.on('error', (error) => fail(new Error(`the proxy ${proxy.host}: ${error.message}`, { cause: error })));
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', onAbort);
      done(socket);
    });
  });
}

/** Reads what a proxy says, and no byte more: what follows is the server's. */
class Reader {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  async bytes(count: number): Promise<Buffer> {
    for (;;) {
      const found = this.#socket.read(count);
      if (found instanceof Buffer && found.length === count) return found;
      await this.#more();
    }
  }

  async head(): Promise<string> {
    let text = '';
    while (!text.endsWith('\r\n\r\n')) {
      text += (await this.bytes(1)).toString('latin1');
      if (text.length > LONGEST_HEAD) throw new Error('it does not speak HTTP');
    }
    return text;
  }

  #more(): Promise<void> {
    const socket = this.#socket;
    return new Promise((done, fail) => {
      const settle = (end: () => void) => () => {
        socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd);
        end();
      };
      const onReadable = settle(done);
      const onEnd = settle(() => fail(new Error('it closed the connection')));
      socket.once('readable', onReadable).once('end', onEnd).once('close', onEnd);
    });
  }
}

const decoded = (text: string): string => decodeURIComponent(text);

async function askHttp(socket: Socket, reader: Reader, proxy: URL, { host, port }: Target): Promise<void> {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const user = `${decoded(proxy.username)}:${decoded(proxy.password)}`;
  const asWhom = user === ':' ? '' : `Proxy-Authorization: Basic ${Buffer.from(user).toString('base64')}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${asWhom}\r\n`);
  const head = await reader.head();
  const code = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (code === undefined) throw new Error('it does not speak HTTP');
  if (!code.startsWith('2')) throw new Error(`it answered ${code} to CONNECT ${authority}`);
}

const SOCKS = 5;
const NO_USER = 0;
const BY_PASSWORD = 2;
const REPLIES = [
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

async function askSocks(socket: Socket, reader: Reader, proxy: URL, { host, port }: Target): Promise<void> {
  const methods = proxy.username === '' ? [NO_USER] : [NO_USER, BY_PASSWORD];
  socket.write(Buffer.from([SOCKS, methods.length, ...methods]));
  const [version, method] = await reader.bytes(2);
  if (version !== SOCKS) throw new Error('it does not speak SOCKS5');
  if (method === BY_PASSWORD) await sayWho(socket, reader, proxy);
  else if (method !== NO_USER) throw new Error('it requires an authentication method that is not supported');
  const wanted = addressOf(host);
  socket.write(Buffer.concat([Buffer.from([SOCKS, 1, 0]), wanted, Buffer.from([port >> 8, port & 0xff])]));
  const [, reply = 1, , kind] = await reader.bytes(4);
  if (reply !== 0) throw new Error(REPLIES[reply] ?? `it failed with code ${reply}`);
  // The address that it uses itself, and the port.
  const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await reader.bytes(1))[0] ?? 0);
  await reader.bytes(length + 2);
}

async function sayWho(socket: Socket, reader: Reader, { username, password }: URL): Promise<void> {
  const [name, word] = [Buffer.from(decoded(username)), Buffer.from(decoded(password))];
  const said = [Buffer.from([1, name.length]), name, Buffer.from([word.length]), word];
  socket.write(Buffer.concat(said));
  const [, status] = await reader.bytes(2);
  if (status !== 0) throw new Error('it refused the user name and password');
}

/** Names are resolved by the proxy, as with client-go. */
function addressOf(host: string): Buffer {
  if (isIPv4(host)) return Buffer.from([1, ...host.split('.').map(Number)]);
  const name = Buffer.from(host);
  return Buffer.concat([Buffer.from([3, name.length]), name]);
}
