/** Access to systemd-logind, which shuts down the host and delays the shutdown for programs that hold a lock. */

interface CallOptions {
  readonly signal: AbortSignal;
}

interface WatchOptions extends CallOptions {
  /** Called once, when the subscription is active and no signal can be missed any longer. */
  readonly onWatching: () => void;
  /** Called when a shutdown is announced, and when it is cancelled. */
  readonly onChange: (isShuttingDown: boolean) => void;
}

interface LockOptions extends CallOptions {
  /** Called once when the lock is held. */
  readonly onLocked: () => void;
}

export interface Logind {
  /** Returns the maximum time in milliseconds for which locks delay a shutdown. */
  readInhibitDelay(options: CallOptions): Promise<number>;
  /** Configures a maximum delay, which logind applies asynchronously. */
  raiseInhibitDelay(delayMs: number, options: CallOptions): Promise<void>;
  /** Reports shutdowns until the signal aborts. Settles when the connection is closed. */
  watchShutdown(options: WatchOptions): Promise<void>;
  /** Holds a lock that delays a shutdown until the signal aborts. Settles when the lock is lost. */
  holdLock(options: LockOptions): Promise<void>;
}
