import type { Invariant } from '../invariant.ts';

export const deadlineGrace: Invariant = {
  number: 3,
  description:
    'A pod that exceeds its active deadline gets its whole grace period from the start of its termination, however ' +
    'long ago the deadline was.',
  follow: (_, violated) => {
    /**
     * Times of the DeadlineExceeded events that no status reflects yet, by pod UID, in milliseconds since the epoch.
     */
    const begun = new Map<string, number>();
    /** Start of the last termination that each pod's actors have shown, by pod UID, in milliseconds since the epoch. */
    const shown = new Map<string, number>();
    return {
      onEvent: ({ reason, involved, at }) => {
        if (reason === 'DeadlineExceeded') begun.set(involved.uid, at);
      },
      onStatus: ({ uid, pod: { metadata, spec }, removed, tree }) => {
        if (removed) for (const each of [shown, begun]) each.delete(uid);
        if (removed || tree.termination === undefined) return;
        const { reason, at, graceSeconds } = tree.termination;
        // A pod whose manifest was recreated may terminate again before the status of its first termination is
        // published.
        if (shown.get(uid) === at) return;
        shown.set(uid, at);
        const since = begun.get(uid);
        if (since === undefined) return;
        begun.delete(uid);
        // Before the status is published, the pod may terminate for a different reason, or for this one with a shorter
        // grace period.
        const isItsOwn = reason === 'DeadlineExceeded' && graceSeconds === (spec.terminationGracePeriodSeconds ?? 30);
        if (!isItsOwn || at === since) return;
        violated(
          `${metadata.namespace}/${metadata.name}: its grace period started at ${at}, but its termination at ${since}`,
        );
      },
      // Times from before a clock change, or of a previous agent, are not comparable.
      beforeJump: () => begun.clear(),
      onAgentStarted: () => begun.clear(),
    };
  },
};
