/** Tracks the versions of the API objects that pods use. */
import type { ObjectKind, StoredObject } from '../../cluster/apiObject.ts';
import type { Watched } from '../invariant.ts';

interface Version {
  readonly object: StoredObject | undefined;
  readonly from: number;
}

const keyOf = (of: ObjectKind, name: string): string => `${of} ${name}`;

export class ObjectVersions {
  /** Versions of each object, the current one last. */
  readonly #versions = new Map<string, Version[]>();
  #changedAt = 0;

  constructor({ cluster, host }: Watched) {
    cluster?.watchObjects(({ of, name, now }) => {
      this.#changedAt = host.clock.elapsed;
      const all = this.#versions.get(keyOf(of, name)) ?? [];
      this.#versions.set(keyOf(of, name), [...all, { object: now, from: host.clock.elapsed }]);
    });
  }

  /** Node time of the last change of any object, in milliseconds. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /**
   * Returns the versions of an object that a node may use, with undefined for a missing object. These are the current
   * version and former immutable versions, which the kubelet does not read again
   * (`pkg/kubelet/util/manager/watch_based_manager.go`).
   */
  mayBe(of: ObjectKind, name: string): readonly (StoredObject | undefined)[] {
    const all = this.#versions.get(keyOf(of, name)) ?? [];
    const immutable = all.slice(0, -1).flatMap(({ object }) => (object?.isImmutable ? [object] : []));
    return [all.at(-1)?.object, ...immutable];
  }

  /** Returns the versions since the node time `at`, including the one that was current then. */
  since(of: ObjectKind, name: string, at: number): readonly (StoredObject | undefined)[] {
    const all = this.#versions.get(keyOf(of, name)) ?? [];
    const later = all.filter(({ from }) => from > at).map(({ object }) => object);
    const before = all.findLast(({ from }) => from <= at);
    const immutable = this.mayBe(of, name).slice(1);
    return [before?.object, ...later, ...immutable];
  }
}
