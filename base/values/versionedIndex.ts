/**
 * Stores an index of an immutable object separately from the object. For example, the context of an actor must be plain
 * data, so the index of a map in it is stored here. When the object is replaced by a changed version, `advance` updates
 * the index in place and assigns it to the new version, so only the changed entries cost work. The index of an earlier
 * version, which only tests inspect, is rebuilt on demand. An index that depends on a second object, the `basis`, is
 * also rebuilt if the basis is a different one.
 */
export class VersionedIndex<Version extends object, Index extends object, Basis = void> {
  readonly #build: (version: Version, basis: Basis) => Index;
  readonly #entries = new WeakMap<Version, { readonly index: Index; readonly basis: Basis }>();

  constructor(build: (version: Version, basis: Basis) => Index) {
    this.#build = build;
  }

  /** Returns the index of a version. The caller must not modify it, nor use it after the next `advance`. */
  of(version: Version, basis: Basis): Index {
    const entry = this.#entries.get(version);
    if (entry !== undefined && entry.basis === basis) return entry.index;
    const index = this.#build(version, basis);
    this.#entries.set(version, { index, basis });
    return index;
  }

  /**
   * Applies the changes to the index with `update` and assigns the index to the next version. Returns the next version.
   */
  advance<Next extends Version>(version: Version, next: Next, update: (index: Index) => void, basis: Basis): Next {
    const index = this.of(version, basis);
    this.#entries.delete(version);
    update(index);
    this.#entries.set(next, { index, basis });
    return next;
  }
}
