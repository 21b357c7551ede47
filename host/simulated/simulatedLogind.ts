/** Simulates the logind of a host, which outlives agents. All calls go through a gate. */
import type { Logind } from '../logind/logind.ts';
import type { Gate } from './gate.ts';
import { openGate } from './gate.ts';

/** The default of logind (`InhibitDelayMaxSec`). */
const DEFAULT_DELAY_MS = 5_000;

interface Connection {
  readonly lose: (error: Error) => void;
  readonly onChange?: (isShuttingDown: boolean) => void;
}

export class SimulatedLogind {
  #delayMs = DEFAULT_DELAY_MS;
  /** Delay that has been configured and takes effect after the next read, because logind reloads asynchronously. */
  #configuredDelayMs = DEFAULT_DELAY_MS;
  #isShuttingDown = false;
  #isRunning = true;
  readonly #locks = new Set<Connection>();
  readonly #watches = new Set<Connection>();

  /** Whether a program holds a lock that delays a shutdown. */
  get isDelayed(): boolean {
    return this.#locks.size > 0;
  }

  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  /** Announces a shutdown, or its cancellation. */
  announce(isShuttingDown: boolean): void {
    if (!this.#isRunning || this.#isShuttingDown === isShuttingDown) return;
    this.#isShuttingDown = isShuttingDown;
    for (const { onChange } of [...this.#watches]) onChange?.(isShuttingDown);
  }

  /** Stops logind, which breaks all connections and discards an announced shutdown. */
  stop(): void {
    this.#isRunning = false;
    this.#isShuttingDown = false;
    for (const { lose } of [...this.#locks, ...this.#watches]) lose(new Error('Connection reset by peer'));
  }

  start(): void {
    this.#isRunning = true;
  }

  /** Boots with the configuration that is on disk. */
  boot(): void {
    this.stop();
    this.start();
  }

  open(gate: Gate = openGate): Logind {
    const call = <T>(name: string, writes: boolean, act: () => T) =>
      gate({ name, about: 'logind:0', writes }, () => {
        if (!this.#isRunning) throw new Error('The name org.freedesktop.login1 was not provided by any .service files');
        return act();
      });
    return {
      readInhibitDelay: () =>
        call('readInhibitDelay', false, () => {
          const delayMs = this.#delayMs;
          this.#delayMs = this.#configuredDelayMs;
          return delayMs;
        }),
      raiseInhibitDelay: (delayMs) =>
        call('raiseInhibitDelay', true, () => {
          this.#configuredDelayMs = delayMs;
        }),
      watchShutdown: async ({ signal, onWatching, onChange }) => {
        const { promise, connection } = openConnection(signal, this.#watches, onChange);
        await call('watchShutdown', false, () => this.#watches.add(connection));
        if (signal.aborted) return this.#close(this.#watches, connection);
        onWatching();
        await promise;
      },
      holdLock: async ({ signal, onLocked }) => {
        const { promise, connection } = openConnection(signal, this.#locks);
        await call('holdLock', true, () => {
          if (this.#isShuttingDown)
            throw new Error('The operation inhibition has been requested for is already running');
          this.#locks.add(connection);
        });
        if (signal.aborted) return this.#close(this.#locks, connection);
        onLocked();
        await promise;
      },
    };
  }

  #close(connections: Set<Connection>, connection: Connection): void {
    connections.delete(connection);
  }
}

/** Creates a connection that ends when the signal aborts or logind stops. */
function openConnection(
  signal: AbortSignal,
  connections: Set<Connection>,
  onChange?: (isShuttingDown: boolean) => void,
): { readonly promise: Promise<void>; readonly connection: Connection } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Avoid an unhandled rejection if the connection ends before the caller awaits the promise.
  promise.catch(() => {});
  const close = () => {
    connections.delete(connection);
    signal.removeEventListener('abort', finish);
  };
  const finish = () => {
    close();
    resolve();
  };
  const connection: Connection = {
    lose: (error) => {
      close();
      reject(error);
    },
    ...(onChange === undefined ? {} : { onChange }),
  };
  signal.addEventListener('abort', finish, { once: true });
  return { promise, connection };
}
