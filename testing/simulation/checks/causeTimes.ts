/** The times of the last events that may have consequences for an object. */

/**
 * The maximum delay between an event and its consequences, in milliseconds. Calls that hang, a hook and a grace period
 * may pass before a container exits.
 */
export const MAX_EFFECT_DELAY_MS = 5 * 60_000;

export class CauseTimes {
  readonly #last = new Map<string, number>();

  /**
   * Adds an event at a time in milliseconds of node time. The time may be in the future, for a condition that lasts
   * until then.
   */
  add(name: string, at: number): void {
    this.#last.set(name, Math.max(this.#last.get(name) ?? at, at));
  }

  /** Whether the last event is not older than `since` and may still have consequences at `now`. */
  mayHaveEffectSince(name: string, since: number, now: number): boolean {
    const last = this.#last.get(name);
    return last !== undefined && last >= since && last + MAX_EFFECT_DELAY_MS >= now;
  }
}
