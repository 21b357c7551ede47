/** Which pods are this agent's own: of what is not, nothing is unmounted, removed or overwritten. */
import type { ObservedPod, PodIdentity } from '../pod/observed.ts';
import type { Layout } from '../volume/layout.ts';
import { claimPod, standingOfPod } from '../volume/podClaim.ts';
import { removeHalfRemoved } from '../volume/podDirectory.ts';
import type { Maker } from '../volume/podMark.ts';
import { type FoundOnDisk, surveyPods } from './leftOnDisk.ts';

interface OwnershipParts {
  readonly layout: Layout;
  readonly maker: Maker;
  readonly podLogsDir: string;
  /** The mark on the sandboxes of this agent. */
  readonly owner: string;
  /** Told when a directory is adopted, and why it was not this agent's before. */
  readonly onAdopted?: ((pod: PodIdentity, why: string) => void) | undefined;
}

/** Tells own pods from those of others, by the marks in their directories and on their sandboxes. */
export interface Ownership {
  readonly maker: Maker;
  /** Notes which pods have a sandbox with this agent's mark. */
  see(pods: readonly ObservedPod[]): void;
  /** Marks the pod's directory, before anything else of the pod is made; one that is there is adopted. */
  claim(pod: PodIdentity): Promise<void>;
  /** Whether what is on this host of a pod is this agent's to remove. */
  owns(pod: PodIdentity): Promise<boolean>;
  /** Nothing of the pod is left. */
  forget(uid: string): void;
  /** What is on disk of pods without an actor. */
  survey(known: readonly string[], signal: AbortSignal): Promise<FoundOnDisk>;
}

export function createOwnership({ layout, maker, podLogsDir, owner, onAdopted }: OwnershipParts): Ownership {
  const seen = new Set<string>();
  const claim = async ({ uid, namespace, name }: PodIdentity) => {
    const pod = { uid, namespace, name };
    const why = await claimPod({ layout, maker, pod });
    if (why !== undefined && !seen.has(uid)) onAdopted?.(pod, why);
  };
  return {
    maker,
    see: (pods) => {
      for (const { uid, sandboxes } of pods) {
        if (sandboxes.some((sandbox) => sandbox.owner === owner)) seen.add(uid);
      }
    },
    claim,
    owns: async (pod) => {
      const { kind } = standingOfPod(layout, maker, pod.uid);
      if (kind === 'ours' || !seen.has(pod.uid)) return kind === 'ours';
      // From before there were marks: should the removal be cut off, the next agent has to know.
      if (kind === 'unmarked') await claim(pod);
      return kind === 'unmarked' || kind === 'missing';
    },
    forget: (uid) => void seen.delete(uid),
    survey: async (known, signal) => {
      for (const directory of [layout.podsDir, podLogsDir]) await removeHalfRemoved(directory, { maker, signal });
      const { left, foreign } = await surveyPods({ layout, maker, podLogsDir }, known);
      return { left, foreign: foreign.filter(({ uid }) => !seen.has(uid)) };
    },
  };
}
