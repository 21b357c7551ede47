/** What was done to a node from outside: what the invariants hold its agent's own deeds against. */

/** Something that somebody else than the agent did. */
export interface Deed {
  /** `applied`, `removed`, `killed`, … */
  readonly what: string;
  /** The full name of the pod that it concerns, `namespace/name`; absent where it may concern any. */
  readonly pod?: string;
  /** By the time that no jump of the clock changes. */
  readonly at: number;
}

export class Deeds {
  readonly #wanted = new Map<string, string>();
  readonly #touched = new Map<string, Deed>();
  readonly #ending = new Set<string>();
  readonly #reborn = new Set<string>();
  #ofAll: Deed | undefined;
  /** Whether the wall clock was set: moments from before and after do not compare. */
  clockJumped = false;

  /** The manifests that are there, by the full names of their pods. */
  get wanted(): ReadonlyMap<string, string> {
    return this.#wanted;
  }

  want(pod: string, file: string): void {
    this.#wanted.set(pod, file);
  }

  unwant(pod: string): void {
    this.#wanted.delete(pod);
    this.#reborn.add(pod);
  }

  /** Whether a pod of this name was not wanted for a while: it may begin from its beginning. */
  isReborn(pod: string): boolean {
    return this.#reborn.has(pod);
  }

  /** Notes that the agent has a reason of its own to end containers of a pod: a probe that fails, a deadline. */
  expectEnds(pod: string): void {
    this.#ending.add(pod);
  }

  /** Whether it need not run at any moment, as its containers end again and again. */
  mayRest(pod: string): boolean {
    return this.#ending.has(pod);
  }

  note(deed: Deed): void {
    if (deed.pod === undefined) this.#ofAll = deed;
    else this.#touched.set(deed.pod, deed);
  }

  /** The last that happened to a pod since then. */
  since(pod: string, at: number): Deed | undefined {
    if (this.#ending.has(pod)) return { what: 'ends by itself', pod, at };
    const own = this.#touched.get(pod);
    const latest = own && this.#ofAll && own.at < this.#ofAll.at ? this.#ofAll : (own ?? this.#ofAll);
    return latest !== undefined && latest.at >= at ? latest : undefined;
  }
}
