/**
 * What hardly ever changes of a cgroup: its limits, and which files the kernel has for it. It is a third of all that is
 * read of one, and is looked at again after a minute.
 */

const MINUTE_MS = 60_000;

type Seen = { readonly at: number; readonly values: Map<string, unknown> };

/** Looks, or says what was seen when it was last looked. */
type SeldomLook = <T>(what: string, look: () => T) => T;

export class Seldom {
  readonly #now: () => number;
  readonly #seen = new Map<string, Seen>();
  #tidiedAt = 0;

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** For a cgroup, by its path. */
  of(path: string): SeldomLook {
    const now = this.#now();
    if (!isFresh(this.#tidiedAt, now)) this.#tidy(now);
    const known = this.#seen.get(path);
    const { values } = known && isFresh(known.at, now) ? known : this.#begin(path, now);
    return <T>(what: string, look: () => T): T => {
      // What was looked at under a name is what that name gives.
      if (values.has(what)) return values.get(what) as T;
      const value = look();
      values.set(what, value);
      return value;
    };
  }

  /** Of so many cgroups something is known. */
  get size(): number {
    return this.#seen.size;
  }

  forget(path: string): void {
    this.#seen.delete(path);
  }

  #begin(path: string, at: number): Seen {
    const seen = { at, values: new Map() };
    this.#seen.set(path, seen);
    return seen;
  }

  /** Nothing is kept of cgroups that nobody asks for any more. */
  #tidy(now: number): void {
    this.#tidiedAt = now;
    for (const [path, { at }] of this.#seen) if (!isFresh(at, now)) this.#seen.delete(path);
  }
}

/** Also not where the time of day was set back. */
const isFresh = (at: number, now: number): boolean => now >= at && now - at < MINUTE_MS;
