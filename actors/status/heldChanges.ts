/** Holds changes back until what they rest on is durable: each pod's in their order, and none behind another pod's. */

interface HeldChanges<Change> {
  /** Tells a change when the promise settles, whichever way, and all earlier ones of its pod were told; else at once. */
  tell(change: Change, until: Promise<unknown> | undefined): void;
  isHeld(uid: string): boolean;
  /** Those that are held, of each pod in their order. */
  all(): readonly Change[];
}

interface Held<Change> {
  readonly changes: readonly Change[];
  /** Settles when the last of them has been told. */
  readonly told: Promise<void>;
}

export function heldChanges<Change extends { readonly uid: string }>(
  deliver: (change: Change) => void,
): HeldChanges<Change> {
  const held = new Map<string, Held<Change>>();
  const deliverNext = (uid: string) => {
    const of = held.get(uid);
    if (of === undefined) return;
    const [change, ...changes] = of.changes;
    if (changes.length === 0) held.delete(uid);
    else held.set(uid, { ...of, changes });
    if (change) deliver(change);
  };
  return {
    tell: (change, until) => {
      const { uid } = change;
      const before = held.get(uid);
      if (until === undefined && before === undefined) return deliver(change);
      const told = Promise.allSettled([before?.told, until]).then(() => deliverNext(uid));
      held.set(uid, { changes: [...(before?.changes ?? []), change], told });
    },
    isHeld: (uid) => held.has(uid),
    all: () => [...held.values()].flatMap(({ changes }) => changes),
  };
}
