/** A client that is joined with the runtime. */
export interface StreamSession {
  readonly kind: 'exec' | 'attach' | 'portForward';
  readonly namespace: string;
  readonly pod: string;
  /** Empty of ports. */
  readonly container: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** The sessions that there are, for who wants to know. */
export class StreamSessions {
  readonly #open = new Set<StreamSession>();

  /** The oldest first. */
  get open(): readonly StreamSession[] {
    return [...this.#open];
  }

  /** It goes on until the function that this gives is called. */
  begin(session: StreamSession): () => void {
    this.#open.add(session);
    return () => void this.#open.delete(session);
  }
}
