/** Simulates a network of servers on a given clock, without sockets. */
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { lookUp } from '../../base/lookUp.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import type { Gate } from '../../host/simulated/gate.ts';
import { joinHostPort } from '../services/http/dialError.ts';
import type {
  Connection,
  ConnectionListener,
  Endpoint,
  FetchOptions,
  FetchResponse,
  GrpcTarget,
  HealthOptions,
  HealthResult,
  Network,
} from '../services/http/network.ts';
import {
  CancellableWait,
  encodeResponse,
  networkError,
  SimulatedConnection,
  type SimulatedResponse,
  type SimulatedServer,
} from './connection.ts';

/** Returns the server at a host and port. If undefined, connections are refused. */
type ServerAt = (host: string, port: number) => SimulatedServer | undefined;

interface SimulatedNetworkParts {
  readonly clock: Clock;
  readonly serverAt: ServerAt;
  /** Intercepts each connection before it is established. */
  readonly gate: Gate;
}

type Address = Pick<Endpoint, 'host' | 'port'>;

const NO_SERVER: SimulatedServer = { connection: 'refused' };
/** Returns a new promise that never settles. A shared one would accumulate the reactions of all its waiters. */
const never = (): Promise<never> => new Promise(() => {});

/** The network of one agent. Its waits are timers of the clock and are cancelled when the caller's signal aborts. */
export class SimulatedNetwork implements Network {
  readonly #parts: SimulatedNetworkParts;

  constructor(parts: SimulatedNetworkParts) {
    this.#parts = parts;
  }

  connect(endpoint: Endpoint, listener: ConnectionListener): Connection {
    const connection = new SimulatedConnection(this.#parts.clock, endpoint, listener);
    this.#dial('connect', endpoint).then(connection.open, connection.fail);
    return connection;
  }

  async checkHealth(target: GrpcTarget, { deadline, signal }: HealthOptions): Promise<HealthResult> {
    const { clock } = this.#parts;
    const [deadlineWait, connectWait] = [new CancellableWait(clock), new CancellableWait(clock)];
    const aborted = Promise.withResolvers<undefined>();
    const abort = () => aborted.resolve(undefined);
    if (Number.isFinite(deadline)) deadlineWait.after(deadline - clock.now(), abort);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      const server = await Promise.race([this.#reach(target, connectWait), aborted.promise]);
      if (server === undefined) return 'unconnected';
      return server.health?.(target.service) ?? (await aborted.promise) ?? 'incomplete';
    } finally {
      signal.removeEventListener('abort', abort);
      for (const wait of [deadlineWait, connectWait]) wait.cancel();
    }
  }

  fetch(url: string, { signal }: FetchOptions): Promise<FetchResponse> {
    const wait = new CancellableWait(this.#parts.clock);
    return unlessAborted(this.#fetch(new URL(url), wait, signal), signal).finally(() => wait.cancel());
  }

  async #fetch(url: URL, wait: CancellableWait, signal: AbortSignal): Promise<FetchResponse> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const address = { host, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) };
    const fail = (cause: unknown): never => {
      throw new TypeError('fetch failed', { cause });
    };
    const { connection, connectMs, respond } = await this.#dial('fetch', address).catch(fail);
    if (connection === 'silent') return never();
    await wait.pause(connectMs);
    if (connection !== undefined) return fail(networkError(connection, address));
    const response = respond?.(`${url.pathname}${url.search}`);
    if (response === undefined) return never();
    await wait.pause(response.delayMs);
    if (encodeResponse(response).isWhole) return fetchResponse(response, address, signal);
    return response.cut?.ending === 'silent' ? never() : fail(networkError('reset', address));
  }

  /**
   * Resolves with a server that accepts connections. If there is none, never resolves, because the gRPC client retries
   * until the caller aborts.
   */
  async #reach(target: GrpcTarget, wait: CancellableWait): Promise<SimulatedServer> {
    const server = await this.#dial('checkHealth', target).catch(() => NO_SERVER);
    if (server.connection !== undefined) return never();
    await wait.pause(server.connectMs);
    return server;
  }

  #dial(name: string, { host, port }: Address): Promise<SimulatedServer> {
    const { gate, serverAt } = this.#parts;
    return gate({ name, about: joinHostPort(host, port), writes: false }, () => serverAt(host, port) ?? NO_SERVER);
  }
}

function fetchResponse(response: SimulatedResponse, address: Address, signal: AbortSignal): FetchResponse {
  const { status = 200, cut } = response;
  async function* chunks() {
    yield encodeResponse(response).body;
    if (cut?.ending === 'silent') yield await unlessAborted(never(), signal);
    if (cut !== undefined) throw new TypeError('terminated', { cause: networkError('reset', address) });
  }
  const body = Object.assign(chunks(), { cancel: async () => {} });
  return { status, statusText: lookUp(STATUS_CODES, String(status)) ?? '', body };
}
