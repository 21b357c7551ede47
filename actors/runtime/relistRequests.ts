/** Requests for a relist from outside the actors. */
export class RelistRequests {
  #pendingCallbacks: ((hasResponded: boolean) => void)[] = [];
  /** Called on each request. Set by the PLEG. */
  onRequest = () => {};

  /**
   * Requests a relist. Once a relist that started after this call has taken effect, resolves to whether the runtime has
   * responded. Resolves to false when the signal aborts.
   */
  request(signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const onAborted = () => resolve(false);
    signal.addEventListener('abort', onAborted, { once: true });
    this.#pendingCallbacks.push((hasResponded) => {
      signal.removeEventListener('abort', onAborted);
      resolve(hasResponded);
    });
    if (signal.aborted) onAborted();
    this.onRequest();
    return promise;
  }

  /** Returns and clears the callbacks of the requests since the last call. */
  takeCallbacks = (): readonly ((hasResponded: boolean) => void)[] => this.#pendingCallbacks.splice(0);
}

export interface RelistStats {
  /** Start time in milliseconds since the epoch. */
  readonly at: number;
  /** Duration in milliseconds, including the status calls for individual containers. */
  readonly ms: number;
  /** Time between the starts of the previous relist and this one, in milliseconds. Undefined for the first relist. */
  readonly sinceLastMs?: number;
  readonly hasResponded: boolean;
}
