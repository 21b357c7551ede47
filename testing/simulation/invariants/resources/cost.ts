/**
 * Limits the work of the agent, measured in transitions and in parts of pods whose status is computed, never in time.
 */
import type { RecordedInput } from '../../../../actors/boundary.ts';
import { containersOf } from '../../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { Invariant, Watched } from '../invariant.ts';

/** Maximum mean number of transitions per entry that concerns one part of a pod. */
const TRANSITIONS_PER_ENTRY = 12;
/**
 * Maximum number of transitions per part of all pods, for an entry that concerns a whole pod, the runtime or the node.
 */
const TRANSITIONS_PER_PART = 6;
/** Maximum mean number of pod parts for which a status is computed per entry. */
const STATUSES_PER_ENTRY = 20;
/**
 * Maximum number of times that the status of a large pod is computed in the interval planned for one computation,
 * because the first and the last status are computed immediately.
 */
const STATUSES_AT_ONCE = 4;
/**
 * Maximum number of transitions between an entry for an actor of a pod and the next entry. This covers one batch of
 * commands to the pod's containers, each of which starts a call. `TRANSITIONS_PER_OTHER_POD` adds a few for every pod
 * that gets a released resource.
 */
const TRANSITIONS_PER_STEP = 400;
const TRANSITIONS_PER_OTHER_POD = 12;
/** Minimum number of entries per measurement, so that single expensive entries matter little. */
const MIN_ENTRIES = 100;

const partsOf = ({ spec }: Pod): number => containersOf(spec).length + (spec.volumes ?? []).length;

/** Whether an entry concerns only one container or volume. */
const isOfPart = ({ actor }: RecordedInput): boolean => /^pod\/[^/]*\/(container|volume)\//.test(actor);

interface Work {
  entries: number;
  /** Number of entries that do not concern one part of a pod. */
  shared: number;
  transitions: number;
  statuses: number;
  /** Maximum number of parts of all pods together. */
  parts: number;
  /** Number of parts of each pod with a status, by UID. */
  readonly pods: Map<string, number>;
  readonly since: number;
}

export const cost: Invariant = {
  number: 12,
  description: 'The cost of a fact depends on what it is about, not on how much there is on the node.',
  follow: (watched, violated) => {
    let pods = new Map<string, number>();
    let work = newWork(watched, pods);
    /** The actor of the last entry, and the number of transitions since. */
    let step = { actor: '', transitions: 0 };
    const endStep = (actor: string) => {
      const maxTransitions = TRANSITIONS_PER_STEP + TRANSITIONS_PER_OTHER_POD * pods.size;
      if (step.actor.startsWith('pod/') && step.transitions > maxTransitions) {
        violated(
          `${step.transitions} transitions after one entry for ${step.actor}, but the maximum is ${maxTransitions}`,
        );
      }
      step = { actor, transitions: 0 };
    };
    const check = () => {
      endStep(step.actor);
      if (work.entries < MIN_ENTRIES) return;
      for (const each of excess(work, watched.host.clock.elapsed - work.since)) violated(each);
      work = newWork(watched, pods);
    };
    return {
      onAgentStarted: () => {
        pods = new Map();
        work = newWork(watched, pods);
        step = { actor: '', transitions: 0 };
      },
      onEntry: (entry) => {
        endStep(entry.actor);
        work.entries += 1;
        if (!isOfPart(entry)) work.shared += 1;
      },
      onTransition: () => {
        work.transitions += 1;
        step.transitions += 1;
      },
      onStatus: ({ uid, pod, removed }) => {
        const parts = partsOf(pod);
        work.statuses += parts;
        pods.set(uid, parts);
        work.parts = Math.max(work.parts, sum(pods.values()));
        if (removed) pods.delete(uid);
      },
      afterStep: check,
    };
  },
};

const newWork = ({ host }: Watched, pods: Map<string, number>): Work => ({
  entries: 0,
  shared: 0,
  transitions: 0,
  statuses: 0,
  parts: sum(pods.values()),
  pods,
  since: host.clock.elapsed,
});

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0);

/** Returns descriptions of the work that exceeds the limits. */
function excess({ entries, shared, transitions, statuses, parts }: Work, elapsedMs: number): string[] {
  const maxTransitions = TRANSITIONS_PER_ENTRY * entries + TRANSITIONS_PER_PART * shared * parts;
  // The status of a large pod is computed at most once in as many milliseconds as it has parts.
  const maxStatuses = STATUSES_PER_ENTRY * entries + STATUSES_AT_ONCE * parts + elapsedMs;
  const scope = `after ${entries} entries, ${shared} of them not about one container or volume, with ${parts} of these`;
  return [
    ...(transitions > maxTransitions
      ? [`${transitions} transitions ${scope}, but the maximum is ${maxTransitions}`]
      : []),
    ...(statuses > maxStatuses
      ? [`${statuses} computed statuses of parts of pods ${scope}, but the maximum is ${maxStatuses}`]
      : []),
  ];
}
