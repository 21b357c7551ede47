/** The versions of the objects that pods use from an API server. */
import type { ObjectKind, StoredObject } from '../../cluster/apiObject.ts';
import type { Watched } from '../invariant.ts';

interface Version {
  readonly object: StoredObject | undefined;
  readonly from: number;
}

const keyOf = (of: ObjectKind, name: string): string => `${of} ${name}`;

export class ObjectVersions {
  /** The versions of each object, the current one last. */
  readonly #versions = new Map<string, Version[]>();
  #changedAt = 0;

  constructor({ cluster, host }: Watched) {
    cluster?.watchObjects(({ of, name, now }) => {
      this.#changedAt = host.clock.elapsed;
      const all = this.#versions.get(keyOf(of, name)) ?? [];
      this.#versions.set(keyOf(of, name), [...all, { object: now, from: host.clock.elapsed }]);
    });
  }

  /** The time of the last change of any object, in node time. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /**
   * Returns the versions of an object that a node may use, with undefined for a missing one: the current version, and
   * former immutable versions, which a kubelet does not read again (`pkg/kubelet/util/manager/watch_based_manager.go`).
   */
  mayBe(of: ObjectKind, name: string): readonly (StoredObject | undefined)[] {
    const all = this.#versions.get(keyOf(of, name)) ?? [];
    const forGood = all.slice(0, -1).flatMap(({ object }) => (object?.isImmutable ? [object] : []));
    return [all.at(-1)?.object, ...forGood];
  }

  /** Returns the versions since `at`, in node time, including the one that was current then. */
  since(of: ObjectKind, name: string, at: number): readonly (StoredObject | undefined)[] {
    const all = this.#versions.get(keyOf(of, name)) ?? [];
    const later = all.filter(({ from }) => from > at).map(({ object }) => object);
    const before = all.findLast(({ from }) => from <= at);
    const forGood = this.mayBe(of, name).slice(1);
    return [before?.object, ...later, ...forGood];
  }
}
