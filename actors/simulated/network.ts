/** A network whose servers answer as a function says: on the given clock, and without a socket. */
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
  bytesOf,
  networkError,
  type SimulatedAnswer,
  SimulatedConnection,
  type SimulatedServer,
  Waits,
} from './connection.ts';

/** What is at a host and port; undefined where nobody listens. */
type ServerAt = (host: string, port: number) => SimulatedServer | undefined;

interface SimulatedNetworkParts {
  readonly clock: Clock;
  readonly serverAt: ServerAt;
  /** What each connection passes before it is made. */
  readonly gate: Gate;
}

type Address = Pick<Endpoint, 'host' | 'port'>;

const NOBODY: SimulatedServer = { connection: 'refused' };
/** Each waits for one of its own: the reactions of all who ever waited would pile up at one that they share. */
const never = (): Promise<never> => new Promise(() => {});

/** What one agent dials; its waits are timers of the clock, and end with what waits. */
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
    const [limit, way] = [new Waits(clock), new Waits(clock)];
    const late = Promise.withResolvers<undefined>();
    const end = () => late.resolve(undefined);
    if (Number.isFinite(deadline)) limit.after(deadline - clock.now(), end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      const server = await Promise.race([this.#reached(target, way), late.promise]);
      if (server === undefined) return 'unconnected';
      return server.health?.(target.service) ?? (await late.promise) ?? 'incomplete';
    } finally {
      signal.removeEventListener('abort', end);
      for (const each of [limit, way]) each.end();
    }
  }

  fetch(url: string, { signal }: FetchOptions): Promise<FetchResponse> {
    const waits = new Waits(this.#parts.clock);
    return unlessAborted(this.#fetched(new URL(url), waits, signal), signal).finally(() => waits.end());
  }

  async #fetched(url: URL, waits: Waits, signal: AbortSignal): Promise<FetchResponse> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const address = { host, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) };
    const fail = (cause: unknown): never => {
      throw new TypeError('fetch failed', { cause });
    };
    const { connection, connectMs, answer } = await this.#dial('fetch', address).catch(fail);
    if (connection === 'silent') return never();
    await waits.pause(connectMs);
    if (connection !== undefined) return fail(networkError(connection, address));
    const given = answer?.(`${url.pathname}${url.search}`);
    if (given === undefined) return never();
    await waits.pause(given.delayMs);
    if (bytesOf(given).isWhole) return fetchedAnswer(given, address, signal);
    return given.cut?.ending === 'silent' ? never() : fail(networkError('reset', address));
  }

  /** A server that takes connections: the client of gRPC tries again and again until it is given up. */
  async #reached(target: GrpcTarget, waits: Waits): Promise<SimulatedServer> {
    const server = await this.#dial('checkHealth', target).catch(() => NOBODY);
    if (server.connection !== undefined) return never();
    await waits.pause(server.connectMs);
    return server;
  }

  #dial(name: string, { host, port }: Address): Promise<SimulatedServer> {
    const { gate, serverAt } = this.#parts;
    return gate({ name, about: joinHostPort(host, port), writes: false }, () => serverAt(host, port) ?? NOBODY);
  }
}

function fetchedAnswer(answer: SimulatedAnswer, address: Address, signal: AbortSignal): FetchResponse {
  const { status = 200, cut } = answer;
  async function* parts() {
    yield bytesOf(answer).body;
    if (cut?.ending === 'silent') yield await unlessAborted(never(), signal);
    if (cut !== undefined) throw new TypeError('terminated', { cause: networkError('reset', address) });
  }
  const body = Object.assign(parts(), { cancel: async () => {} });
  return { status, statusText: lookUp(STATUS_CODES, String(status)) ?? '', body };
}
