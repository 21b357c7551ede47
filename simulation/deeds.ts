/** What was done to a node from outside: what the invariants hold its agent's own deeds against. */
export class Deeds {
  readonly #wanted = new Map<string, readonly string[]>();
  readonly #touched = new Map<string, number>();
  readonly #ending = new Set<string>();
  readonly #reborn = new Set<string>();
  #allTouched = Number.NEGATIVE_INFINITY;
  /** Whether the wall clock was set: moments from before and after do not compare. */
  clockJumped = false;

  /** The full names of the pods whose manifests are there. */
  get wanted(): ReadonlyMap<string, unknown> {
    return this.#wanted;
  }

  /** The files that have the manifest of a pod; none where a URL lists it. */
  filesOf(pod: string): readonly string[] {
    return this.#wanted.get(pod) ?? [];
  }

  /** `file`: where the manifest is, unless the pod has files already. */
  want(pod: string, file?: string): void {
    this.#wanted.set(pod, this.#wanted.get(pod) ?? (file === undefined ? [] : [file]));
  }

  addFile(pod: string, file: string): void {
    this.#wanted.set(pod, [...this.filesOf(pod), file]);
  }

  moveFile(pod: string, from: string, to: string): void {
    this.#wanted.set(
      pod,
      this.filesOf(pod).map((file) => (file === from ? to : file)),
    );
  }

  unwant(pod: string): void {
    this.#wanted.delete(pod);
    this.beginAnew(pod);
  }

  /** Notes that a pod is, or was for a while, not the one that it was. */
  beginAnew(pod: string): void {
    this.#reborn.add(pod);
  }

  /** Whether it may begin from its beginning. */
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
