/** A long-lived request: an exec, attach or port-forward stream, or a followed log. */
export interface StreamSession {
  readonly kind: 'exec' | 'attach' | 'portForward' | 'logs';
  readonly namespace: string;
  readonly pod: string;
  /** Empty for a port-forward. */
  readonly container: string;
  /** Name of the user that sent the request. */
  readonly caller: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** An open session with a unique ID. */
export interface OpenSession extends StreamSession {
  readonly id: number;
}

/** The long-lived requests that are in progress. */
export class StreamSessions {
  readonly #openSessions = new Set<OpenSession>();
  #lastId = 0;

  /** The sessions from oldest to newest. */
  get open(): readonly OpenSession[] {
    return [...this.#openSessions];
  }

  /** Adds a session and returns a function that removes it. */
  start(session: StreamSession): () => void {
    this.#lastId += 1;
    const openSession = { ...session, id: this.#lastId };
    this.#openSessions.add(openSession);
    return () => void this.#openSessions.delete(openSession);
  }
}
