/** Releases connections that their clients have reset, and limits the connections of a server. */
import { readFileSync } from 'node:fs';
import { isIPv6, type Server, type Socket } from 'node:net';
import { constants } from 'node:os';
import { Server as TlsServer } from 'node:tls';
import { startTimeLimit } from '../base/time/timeLimit.ts';

/**
 * Interval between two inspections, in milliseconds. A connection without unread data is destroyed if two consecutive
 * inspections detect a reset, so its descriptor is released within twice this time.
 */
const INSPECTION_INTERVAL_MS = 4_000;

/**
 * Time in milliseconds after which the unread data of a reset connection is discarded if its reader makes no progress.
 * `joinStreams` applies the same limit to half-closed connections.
 */
const UNREAD_DATA_TIMEOUT_MS = 30_000;

/**
 * Idle time of a connection before the kernel probes the client, in milliseconds. Ten probes follow at intervals of one
 * second, so a vanished client is noticed after 150 s, as in Go (`net.KeepAliveConfig`). With the kernel's default of
 * two hours, an exec session of a vanished client would stay open that long.
 */
const KEEP_ALIVE_DELAY_MS = 140_000;

/**
 * Destroys connections that were reset without Node.js noticing. A reset goes unnoticed while nothing reads from a
 * connection and, over TLS 1.3, if the reset arrives between the handshake and an asynchronous response
 * (docs/node-tls-reset.md). The write of the response then never completes, and the descriptor stays open as long as
 * the process lives.
 */
export class ResetWatcher {
  /** Watched connections with the results of their last inspections. */
  readonly #connections = new Map<Socket, Inspection>();
  #isScheduled = false;

  add(socket: Socket): void {
    this.#connections.set(socket, { resetCount: 0, consumedBytes: 0 });
    socket.once('close', () => this.#connections.delete(socket));
    this.#scheduleInspection();
  }

  #scheduleInspection(): void {
    if (this.#isScheduled || this.#connections.size === 0) return;
    this.#isScheduled = true;
    startTimeLimit(INSPECTION_INTERVAL_MS).signal.addEventListener('abort', () => {
      this.#isScheduled = false;
      this.#inspectConnections();
      this.#scheduleInspection();
    });
  }

  #inspectConnections(): void {
    for (const [socket, previous] of this.#connections) {
      const consumedBytes = socket.bytesRead - socket.readableLength;
      if (!isConnectionReset(socket)) {
        this.#connections.set(socket, { resetCount: 0, consumedBytes });
        continue;
      }
      const resetCount = previous.consumedBytes === consumedBytes ? previous.resetCount + 1 : 1;
      // Do not destroy the connection while a slow reader makes progress. The reader notices the reset once it has
      // consumed the data. The data must not be lost, because both sides may have closed the connection gracefully.
      if (resetCount >= (socket.readableLength === 0 ? 2 : MAX_UNREAD_INSPECTIONS)) socket.destroy();
      else this.#connections.set(socket, { resetCount, consumedBytes });
    }
  }
}

const MAX_UNREAD_INSPECTIONS = Math.ceil(UNREAD_DATA_TIMEOUT_MS / INSPECTION_INTERVAL_MS);

interface Inspection {
  /** Number of consecutive inspections that detected a reset and no progress of the reader. */
  readonly resetCount: number;
  /** Bytes that have been read from the connection and are no longer in its buffer. */
  readonly consumedBytes: number;
}

/**
 * Whether the kernel no longer has a peer for the connection, in which case `getpeername(2)` fails with ENOTCONN. The
 * public `remoteAddress` is not sufficient, because Node.js caches it.
 */
function isConnectionReset(socket: Socket): boolean {
  const socketHandle: unknown = Reflect.get(socket, '_handle');
  if (typeof socketHandle !== 'object' || socketHandle === null) return false;
  const getPeerName: unknown = Reflect.get(socketHandle, 'getpeername');
  if (typeof getPeerName !== 'function') return false;
  return Reflect.apply(getPeerName, socketHandle, [{}]) === -constants.errno.ENOTCONN;
}

interface ConnectionLimits {
  readonly maxConnections: number;
  /** Maximum number of connections per client. Undefined if a single client may use all connections. */
  readonly maxPerAddress?: number;
}

/** Limits the connections of a server and releases those whose clients have reset them or vanished. */
export function guardConnections(server: Server, { maxConnections, maxPerAddress }: ConnectionLimits): void {
  server.maxConnections = maxConnections;
  const resetWatcher = new ResetWatcher();
  const connectionCounts = new Map<string, number>();
  // Watch the TLS socket and not the underlying one, because the TLS socket buffers the unread data.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket) => resetWatcher.add(socket));
  server.on('connection', (socket) => {
    socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    if (maxPerAddress === undefined) return;
    const client = clientKey(socket.remoteAddress ?? '');
    const count = connectionCounts.get(client) ?? 0;
    connectionCounts.set(client, count + 1);
    socket.once('close', () => {
      const remainingCount = (connectionCounts.get(client) ?? 1) - 1;
      if (remainingCount === 0) connectionCounts.delete(client);
      else connectionCounts.set(client, remainingCount);
    });
    if (count >= maxPerAddress) socket.destroy();
  });
}

/**
 * Returns the key by which a client's connections are counted. For IPv6, this is the /64 prefix, because a host usually
 * has all addresses of a /64.
 */
export function clientKey(address: string): string {
  if (!isIPv6(address)) return address;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  // The kernel omits leading zeros and at most one run of zero groups, which may be within the first four groups.
  const [head = '', tail = ''] = address.replace(/%.*$/, '').split('::');
  const leadingGroups = head === '' ? [] : head.split(':');
  const trailingGroups = tail === '' ? [] : tail.split(':');
  const zeroGroups = Array.from({ length: Math.max(0, 8 - leadingGroups.length - trailingGroups.length) }, () => '0');
  return [...leadingGroups, ...zeroGroups, ...trailingGroups].slice(0, 4).join(':');
}

/**
 * Returns the connection limit for a server. It is at most half of the number of descriptors that the process may open,
 * because the rest of the process needs descriptors too.
 */
export function connectionLimit(requestedLimit: number, limitsFile = '/proc/self/limits'): number {
  const [, softLimit = ''] = /^Max open files +(\S+)/m.exec(readLimits(limitsFile)) ?? [];
  const descriptorLimit = Number(softLimit);
  return softLimit === '' || Number.isNaN(descriptorLimit)
    ? requestedLimit
    : Math.min(requestedLimit, Math.floor(descriptorLimit / 2));
}

function readLimits(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Only Linux has this file. On other systems, the limit is unknown.
    return '';
  }
}
