/** Simulates a network of servers on a given clock, without sockets. */
import { STATUS_CODES } from 'node:http';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import type { Clock } from '../../base/time/clock.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import type { Gate } from '../../host/simulated/gate.ts';
import { joinHostPort } from '../services/http/dialError.ts';
import type {
  ConnectionListener,
  FetchOptions,
  FetchResponse,
  GrpcTarget,
  HealthOptions,
  HealthResult,
  Network,
  NetworkConnection,
  NetworkEndpoint,
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

interface SimulatedNetworkDependencies {
  readonly clock: Clock;
  readonly findServer: ServerAt;
  /** Intercepts each connection before it is established. */
  readonly gate: Gate;
}

type ServerAddress = Pick<NetworkEndpoint, 'host' | 'port'>;

const NO_SERVER: SimulatedServer = { connection: 'refused' };
/** Returns a new promise that never settles. A shared promise would accumulate the reactions of all its waiters. */
const waitForever = (): Promise<never> => new Promise(() => {});

/** The network of one agent. Its waits are timers of the clock and are cancelled when the caller's signal aborts. */
export class SimulatedNetwork implements Network {
  readonly #dependencies: SimulatedNetworkDependencies;

  constructor(dependencies: SimulatedNetworkDependencies) {
    this.#dependencies = dependencies;
  }

  connect(endpoint: NetworkEndpoint, listener: ConnectionListener): NetworkConnection {
    const connection = new SimulatedConnection(this.#dependencies.clock, endpoint, listener);
    this.#dialServer('connect', endpoint).then(connection.openConnection, connection.failConnection);
    return connection;
  }

  async checkHealth(target: GrpcTarget, { deadline, signal }: HealthOptions): Promise<HealthResult> {
    const { clock } = this.#dependencies;
    const [deadlineWait, connectWait] = [new CancellableWait(clock), new CancellableWait(clock)];
    const abortPromise = Promise.withResolvers<undefined>();
    const abort = () => abortPromise.resolve(undefined);
    if (Number.isFinite(deadline)) deadlineWait.after(deadline - clock.now(), abort);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      const reachedServer = await Promise.race([this.#reachServer(target, connectWait), abortPromise.promise]);
      if (reachedServer === undefined) return 'unconnected';
      return reachedServer.health?.(target.service) ?? (await abortPromise.promise) ?? 'incomplete';
    } finally {
      signal.removeEventListener('abort', abort);
      for (const wait of [deadlineWait, connectWait]) wait.cancel();
    }
  }

  fetch(url: string, { signal }: FetchOptions): Promise<FetchResponse> {
    const connectWait = new CancellableWait(this.#dependencies.clock);
    return unlessAborted(this.#fetch(new URL(url), connectWait, signal), signal).finally(() => connectWait.cancel());
  }

  async #fetch(url: URL, wait: CancellableWait, signal: AbortSignal): Promise<FetchResponse> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const address = { host, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) };
    const failConnection = (cause: unknown): never => {
      throw new TypeError('fetch failed', { cause });
    };
    const { connection, connectMs, respond } = await this.#dialServer('fetch', address).catch(failConnection);
    if (connection === 'silent') return waitForever();
    await wait.pause(connectMs);
    if (connection !== undefined) return failConnection(networkError(connection, address));
    const response = respond?.(`${url.pathname}${url.search}`);
    if (response === undefined) return waitForever();
    await wait.pause(response.delayMs);
    if (encodeResponse(response).isComplete) return fetchResponse(response, address, signal);
    return response.cut?.ending === 'silent' ? waitForever() : failConnection(networkError('reset', address));
  }

  /**
   * Resolves with a server that accepts connections. If there is none, never resolves, because the gRPC client retries
   * until the caller aborts.
   */
  async #reachServer(target: GrpcTarget, wait: CancellableWait): Promise<SimulatedServer> {
    const dialedServer = await this.#dialServer('checkHealth', target).catch(() => NO_SERVER);
    if (dialedServer.connection !== undefined) return waitForever();
    await wait.pause(dialedServer.connectMs);
    return dialedServer;
  }

  #dialServer(name: string, { host, port }: ServerAddress): Promise<SimulatedServer> {
    const { gate, findServer } = this.#dependencies;
    return gate({ name, about: joinHostPort(host, port), writes: false }, () => findServer(host, port) ?? NO_SERVER);
  }
}

function fetchResponse(response: SimulatedResponse, address: ServerAddress, signal: AbortSignal): FetchResponse {
  const { status = 200, cut } = response;
  async function* bodyChunks() {
    yield encodeResponse(response).body;
    if (cut?.ending === 'silent') yield await unlessAborted(waitForever(), signal);
    if (cut !== undefined) throw new TypeError('terminated', { cause: networkError('reset', address) });
  }
  const body = Object.assign(bodyChunks(), { cancel: async () => {} });
  return { status, statusText: lookUp(STATUS_CODES, String(status)) ?? '', body };
}
