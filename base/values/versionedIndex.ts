/**
 * Stores an index of an immutable object outside it, e.g. of a map in the context of an actor, which must be plain
 * data. When the object is replaced by a changed version, `advance` updates the index in place and passes it on, so a
 * change costs work only for the changed entries. The index of an earlier version, which only tests inspect, is built
 * again on demand.
 *
 * An index that depends on a second object, the `basis`, is also built again for another basis.
 */
export class VersionedIndex<Version extends object, Index extends object, Basis = void> {
  readonly #build: (version: Version, basis: Basis) => Index;
  readonly #entries = new WeakMap<Version, { readonly index: Index; readonly basis: Basis }>();

  constructor(build: (version: Version, basis: Basis) => Index) {
    this.#build = build;
  }

  /** Returns the index of a version. The caller must not modify it. */
  of(version: Version, basis: Basis): Index {
    const entry = this.#entries.get(version);
    if (entry !== undefined && entry.basis === basis) return entry.index;
    const index = this.#build(version, basis);
    this.#entries.set(version, { index, basis });
    return index;
  }

  /** Passes the index on to the next version, after `update` has applied the changes to it. Returns the next version. */
  advance<Next extends Version>(version: Version, next: Next, update: (index: Index) => void, basis: Basis): Next {
    const index = this.of(version, basis);
    this.#entries.delete(version);
    update(index);
    this.#entries.set(next, { index, basis });
    return next;
  }
}
