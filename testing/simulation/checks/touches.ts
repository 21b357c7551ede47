/** When something was done last to each of those that something can be done to, for as long as that may have its consequences. */

/**
 * So long a reason may take to have its consequences, in milliseconds: calls that hang, a hook and a grace pass before a
 * container ends.
 */
export const ACTS_FOR_MS = 5 * 60_000;

export class Touches {
  readonly #last = new Map<string, number>();

  /** By the time that no jump of the clock changes; also one that is yet to come, for what goes on until then. */
  add(name: string, at: number): void {
    this.#last.set(name, Math.max(this.#last.get(name) ?? at, at));
  }

  /** Whether something was done since then that may have its consequences now. */
  mayActSince(name: string, since: number, now: number): boolean {
    const last = this.#last.get(name);
    return last !== undefined && last >= since && last + ACTS_FOR_MS >= now;
  }
}
