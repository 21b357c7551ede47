/** What was done to a node from outside: what the invariants hold its agent's own deeds against. */
export class Deeds {
  readonly #wanted = new Map<string, string>();
  readonly #touched = new Map<string, number>();
  readonly #ending = new Set<string>();
  readonly #reborn = new Set<string>();
  #allTouched = Number.NEGATIVE_INFINITY;
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

  /** Notes that somebody else than the agent did something to a pod, by the time that no jump of the clock changes. */
  touch(pod: string, at: number): void {
    this.#touched.set(pod, at);
  }

  /** The same of what may concern any pod. */
  touchAll(at: number): void {
    this.#allTouched = at;
  }

  /** Whether there is a reason beside the agent for what became of a pod since then. */
  isTouchedSince(pod: string, at: number): boolean {
    return this.#ending.has(pod) || this.#allTouched >= at || (this.#touched.get(pod) ?? at - 1) >= at;
  }
}
