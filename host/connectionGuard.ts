/** Releases connections that their clients have reset, and limits the connections of a server. */
import { readFileSync } from 'node:fs';
import { isIPv6, type Server, type Socket } from 'node:net';
import { constants } from 'node:os';
import { startLimit } from '../base/limit.ts';

/**
 * Interval between two inspections, in milliseconds. A connection that two inspections in a row find reset is destroyed, so
 * its descriptor is released within twice this time.
 */
const INSPECTION_INTERVAL_MS = 4_000;

/**
 * Idle time of a connection before the kernel probes whether its client is still there, in milliseconds. Ten probes follow, one
 * a second, so a client that has vanished without a word is noticed after 150 s, as by Go (`net.KeepAliveConfig`). The default
 * of the kernel is two hours, for which an exec session of such a client would stay open.
 */
const KEEP_ALIVE_DELAY_MS = 140_000;

/**
 * Destroys connections that were reset without Node.js noticing. That happens while nothing reads a connection, and, over
 * TLS 1.3, if the reset arrives between the handshake and an asynchronous response (docs/node-tls-reset.md): the write of
 * the response never completes, and the descriptor stays open for as long as the process lives.
 */
export class ResetWatch {
  /** The watched connections, and whether the last inspection found them reset. */
  readonly #connections = new Map<Socket, boolean>();
  #isScheduled = false;

  add(socket: Socket): void {
    this.#connections.set(socket, false);
    socket.once('close', () => this.#connections.delete(socket));
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#connections.size === 0) return;
    this.#isScheduled = true;
    startLimit(INSPECTION_INTERVAL_MS).signal.addEventListener('abort', () => {
      this.#isScheduled = false;
      this.#inspect();
      this.#schedule();
    });
  }

  #inspect(): void {
    for (const [socket, wasReset] of this.#connections) {
      // A connection with unread data is one whose reader is slow. It notices the end by itself once it has read them, and must
      // not lose them if both sides have closed the connection in order.
      const hasReset = socket.readableLength === 0 && isReset(socket);
      if (hasReset && wasReset) socket.destroy();
      else this.#connections.set(socket, hasReset);
    }
  }
}

/**
 * Whether the kernel no longer has a peer for the connection: `getpeername(2)` then fails with ENOTCONN. The public
 * `remoteAddress` cannot show that, because Node.js caches it.
 */
function isReset(socket: Socket): boolean {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return false;
  const getPeerName: unknown = Reflect.get(handle, 'getpeername');
  if (typeof getPeerName !== 'function') return false;
  return Reflect.apply(getPeerName, handle, [{}]) === -constants.errno.ENOTCONN;
}

interface ConnectionLimits {
  readonly maxConnections: number;
  /** Undefined if a single client may have all connections. */
  readonly maxPerAddress?: number;
}

/** Limits the connections of a server, and releases those whose clients have reset them or vanished. */
export function guardConnections(server: Server, { maxConnections, maxPerAddress }: ConnectionLimits): void {
  server.maxConnections = maxConnections;
  const watch = new ResetWatch();
  const counts = new Map<string, number>();
  server.on('connection', (socket) => {
    watch.add(socket);
    socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    if (maxPerAddress === undefined) return;
    const client = clientOf(socket.remoteAddress ?? '');
    const count = counts.get(client) ?? 0;
    counts.set(client, count + 1);
    socket.once('close', () => {
      const left = (counts.get(client) ?? 1) - 1;
      if (left === 0) counts.delete(client);
      else counts.set(client, left);
    });
    if (count >= maxPerAddress) socket.destroy();
  });
}

/** The key by which a client's connections are counted. A host usually has a whole /64 of IPv6 addresses. */
export function clientOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  // The kernel's text omits leading zeros and at most one run of zero groups, which may be within the first four.
  const [head = '', tail = ''] = address.replace(/%.*$/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => '0');
  return [...groups, ...zeros, ...rest].slice(0, 4).join(':');
}

/**
 * The limit for a server that must leave descriptors to the rest of the process: at most half of those that the process may
 * open.
 */
export function affordableConnections(wanted: number, limits = '/proc/self/limits'): number {
  const [, soft = ''] = /^Max open files +(\S+)/m.exec(readLimits(limits)) ?? [];
  const descriptors = Number(soft);
  return soft === '' || Number.isNaN(descriptors) ? wanted : Math.min(wanted, Math.floor(descriptors / 2));
}

function readLimits(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A host other than Linux has no such file.
    return '';
  }
}
