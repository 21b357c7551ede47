/** Connections to simulated servers, as bytes come over them. */
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { lookUp } from '../../base/lookUp.ts';
import { joinHostPort } from '../services/http/dialError.ts';
import type { Connection, ConnectionListener, Endpoint, HealthResult } from '../services/http/network.ts';

/** An answer to a GET. */
export interface SimulatedAnswer {
  /** 200 when absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How long the server takes for it, in milliseconds. */
  readonly delayMs?: number;
  /** Only so many bytes of it come, its head included, and then this. */
  readonly cut?: { readonly bytes: number; readonly ending: 'closed' | 'reset' | 'silent' };
}

/** What is at an address. */
export interface SimulatedServer {
  /** How a connection goes; absent: it comes about. */
  readonly connection?: 'refused' | 'unreachable' | 'silent';
  /** How long until a connection comes about or is refused, in milliseconds. */
  readonly connectMs?: number;
  /** Whether it speaks TLS, and nothing else. */
  readonly isSecure?: boolean;
  /** How it answers a GET of a path with its query; nothing, ever, when absent. */
  readonly answer?: (path: string) => SimulatedAnswer | undefined;
  /** How it answers for a service by the health protocol of gRPC; nothing, ever, when absent. */
  readonly health?: (service: string) => Extract<HealthResult, object> | undefined;
}

const FAILURES = { refused: 'ECONNREFUSED', unreachable: 'EHOSTUNREACH', reset: 'ECONNRESET' } as const;

/** An error of a connection, as Node spells it. */
export function networkError(kind: keyof typeof FAILURES, { host, port }: Pick<Endpoint, 'host' | 'port'>): Error {
  const code = FAILURES[kind];
  const message = kind === 'reset' ? `read ${code}` : `connect ${code} ${joinHostPort(host, port)}`;
  return Object.assign(new Error(message), { code });
}

/** An answer's head and body; of one that is cut the part that comes. */
export function bytesOf({ status = 200, headers = {}, body = '', cut }: SimulatedAnswer) {
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...length, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`HTTP/1.1 ${status} ${lookUp(STATUS_CODES, String(status)) ?? ''}\r\n${lines.join('')}\r\n`);
  const come = cut?.bytes ?? Number.POSITIVE_INFINITY;
  return {
    head: head.subarray(0, come),
    isWhole: come >= head.length,
    body: Buffer.from(body).subarray(0, Math.max(0, come - head.length)),
  };
}

/** Waits on a clock, at most one at a time, until they are ended. */
export class Waits {
  readonly #clock: Clock;
  #timer: unknown;
  #isOver = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** At once when there is nothing to wait for. */
  after(ms: number | undefined, act: () => void): void {
    if (this.#isOver) return;
    if (ms === undefined || ms <= 0) act();
    else this.#timer = this.#clock.setTimeout(() => !this.#isOver && act(), ms);
  }

  pause(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  end(): void {
    this.#isOver = true;
    this.#clock.clearTimeout(this.#timer);
  }
}

/** A connection that is about to come about. */
export class SimulatedConnection implements Connection {
  readonly #endpoint: Endpoint;
  readonly #listener: ConnectionListener;
  readonly #waits: Waits;
  #isDestroyed = false;
  #server: SimulatedServer | undefined;
  #request: string | undefined;

  constructor(clock: Clock, endpoint: Endpoint, listener: ConnectionListener) {
    this.#endpoint = endpoint;
    this.#listener = listener;
    this.#waits = new Waits(clock);
  }

  write(text: string): void {
    this.#request = text;
    if (this.#server !== undefined) this.#respond(this.#server, text);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#waits.end();
  }

  readonly fail = (error: unknown): void => {
    if (!this.#isDestroyed) this.#listener.onError(error);
  };

  /** It is known what is at the other end. */
  readonly open = (server: SimulatedServer): void => {
    const { connection, connectMs } = server;
    if (this.#isDestroyed || connection === 'silent') return;
    this.#waits.after(connectMs, () => {
      if (connection !== undefined) return this.fail(networkError(connection, this.#endpoint));
      this.#server = server;
      this.#listener.onConnect?.();
      if (!this.#isDestroyed && this.#request !== undefined) this.#respond(server, this.#request);
    });
  };

  #respond({ isSecure = false, answer }: SimulatedServer, request: string): void {
    if (isSecure !== this.#endpoint.isSecure) {
      if (isSecure) this.#listener.onEnd?.();
      else this.fail(Object.assign(new Error('write EPROTO: wrong version number'), { code: 'EPROTO' }));
      return;
    }
    const [, path = '/'] = request.split(' ', 2);
    const given = answer?.(path);
    if (given === undefined) return;
    this.#waits.after(given.delayMs, () => this.#send(given));
  }

  #send(answer: SimulatedAnswer): void {
    const { onData, onEnd } = this.#listener;
    const { head, body } = bytesOf(answer);
    for (const part of [head, body]) if (part.length > 0 && !this.#isDestroyed) onData?.(part);
    if (this.#isDestroyed || answer.cut?.ending === 'silent') return;
    if (answer.cut?.ending === 'reset') this.fail(networkError('reset', this.#endpoint));
    else onEnd?.();
  }
}
