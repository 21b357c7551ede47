/** A client that stays: joined with the runtime, or following a log. */
export interface StreamSession {
  readonly kind: 'exec' | 'attach' | 'portForward' | 'logs';
  readonly namespace: string;
  readonly pod: string;
  /** Empty of ports. */
  readonly container: string;
  /** The name of the user who has begun it. */
  readonly caller: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** One that is open, with a number of its own. */
export interface OpenSession extends StreamSession {
  readonly id: number;
}

/** The sessions that there are, for who wants to know. */
export class StreamSessions {
  readonly #open = new Set<OpenSession>();
  #begun = 0;

  /** The oldest first. */
  get open(): readonly OpenSession[] {
    return [...this.#open];
  }

  /** It goes on until the function that this gives is called. */
  begin(session: StreamSession): () => void {
    this.#begun += 1;
    const open = { ...session, id: this.#begun };
    this.#open.add(open);
    return () => void this.#open.delete(open);
  }
}
