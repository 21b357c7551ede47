/** Holds changes back until what they rest on is durable: each pod's in their order, and none behind another pod's. */

interface HeldChanges<Change> {
  /** Tells a change when the promise settles, whichever way, and all earlier ones of its pod were told; else at once. */
  tell(change: Change, until: Promise<unknown> | undefined): void;
  isHeld(uid: string): boolean;
  uids(): readonly string[];
}

export function heldChanges<Change extends { readonly uid: string }>(
  deliver: (change: Change) => void,
): HeldChanges<Change> {
  /** The last change of each pod that is held. */
  const held = new Map<string, Promise<void>>();
  return {
    tell: (change, until) => {
      const { uid } = change;
      const before = held.get(uid);
      if (until === undefined && before === undefined) return deliver(change);
      const told: Promise<void> = Promise.allSettled([before, until]).then(() => {
        if (held.get(uid) === told) held.delete(uid);
        deliver(change);
      });
      held.set(uid, told);
    },
    isHeld: (uid) => held.has(uid),
    uids: () => [...held.keys()],
  };
}
