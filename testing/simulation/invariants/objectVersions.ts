/** What there has been of the objects that pods get of an API server. */
import type { ObjectKind, StoredObject } from '../cluster/apiObject.ts';
import type { Watched } from './invariant.ts';

interface Version {
  readonly object: StoredObject | undefined;
  readonly from: number;
}

const keyOf = (of: ObjectKind, name: string): string => `${of} ${name}`;

export class ObjectVersions {
  /** The last is the present one. */
  readonly #versions = new Map<string, Version[]>();
  #changedAt = 0;

  constructor({ cluster, host }: Watched) {
    cluster?.watchObjects(({ of, name, now }) => {
      this.#changedAt = host.clock.elapsed;
      const all = this.#versions.get(keyOf(of, name)) ?? [];
      this.#versions.set(keyOf(of, name), [...all, { object: now, from: host.clock.elapsed }]);
    });
  }

  /** When any of them was changed last, by the time that no jump of the clock changes. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /**
   * What a node may take for the object, undefined for none: what it is now; and what it once was for good, for nobody
   * looks at that again (`pkg/kubelet/util/manager/watch_based_manager.go`).
   */
  mayBe(of: ObjectKind, name: string): readonly (StoredObject | undefined)[] {
    const all = this.#versions.get(keyOf(of, name)) ?? [];
    const forGood = all.slice(0, -1).flatMap(({ object }) => (object?.isImmutable ? [object] : []));
    return [all.at(-1)?.object, ...forGood];
  }

  /** What it has been since then, by the time that no jump of the clock changes. */
  since(of: ObjectKind, name: string, at: number): readonly (StoredObject | undefined)[] {
    const all = this.#versions.get(keyOf(of, name)) ?? [];
    const later = all.filter(({ from }) => from > at).map(({ object }) => object);
    const before = all.findLast(({ from }) => from <= at);
    const forGood = this.mayBe(of, name).slice(1);
    return [before?.object, ...later, ...forGood];
  }
}
