/** The work of the agent, measured in transitions and in parts of pods whose status is computed, never in time. */
import type { RecordedInput } from '../../../../actors/boundary.ts';
import { containersOf } from '../../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { Invariant, Watched } from '../invariant.ts';

/** Maximum mean number of transitions per entry about one part of a pod. */
const TRANSITIONS_PER_ENTRY = 12;
/** Maximum number of transitions per part of all pods, for an entry about a pod, the runtime or the node. */
const TRANSITIONS_PER_PART = 6;
/** Maximum mean number of pod parts for which a status is computed per entry. */
const STATUSES_PER_ENTRY = 20;
/**
 * Maximum number of statuses of a large pod in the time in which it is computed once, because the first and the last
 * status are computed at once.
 */
const STATUSES_AT_ONCE = 4;
/**
 * Maximum number of transitions between an entry for an actor of one pod and the next entry. It covers one batch of
 * commands to the pod's containers, each of which starts a call, and a few transitions of every pod that gets a
 * released resource.
 */
const TRANSITIONS_PER_STEP = 400;
const TRANSITIONS_PER_OTHER_POD = 12;
/** Minimum number of entries per stretch, so that single expensive entries matter little. */
const STRETCH = 100;

const partsOf = ({ spec }: Pod): number => containersOf(spec).length + (spec.volumes ?? []).length;

/** Whether an entry concerns one container or volume, and no other part of the pod. */
const isOfPart = ({ actor }: RecordedInput): boolean => /^pod\/[^/]*\/(container|volume)\//.test(actor);

interface Work {
  entries: number;
  /** Entries that do not concern one part of a pod. */
  shared: number;
  transitions: number;
  statuses: number;
  /** Maximum total number of parts of all pods. */
  parts: number;
  /** The number of parts of each pod with a status. */
  readonly pods: Map<string, number>;
  readonly since: number;
}

export const cost: Invariant = {
  number: 12,
  description: 'What a fact costs is a function of what it is about, not of how much there is on the node.',
  follow: (watched, violated) => {
    let pods = new Map<string, number>();
    let work = newWork(watched, pods);
    /** The actor of the last entry, and the transitions since. */
    let step = { actor: '', transitions: 0 };
    const endStep = (actor: string) => {
      const mayTransit = TRANSITIONS_PER_STEP + TRANSITIONS_PER_OTHER_POD * pods.size;
      if (step.actor.startsWith('pod/') && step.transitions > mayTransit) {
        violated(`${step.transitions} transitions after one entry for ${step.actor}, where ${mayTransit} are enough`);
      }
      step = { actor, transitions: 0 };
    };
    const check = () => {
      endStep(step.actor);
      if (work.entries < STRETCH) return;
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

/** Returns the work that exceeds the limits for the entries of a stretch. */
function excess({ entries, shared, transitions, statuses, parts }: Work, elapsedMs: number): string[] {
  const mayTransit = TRANSITIONS_PER_ENTRY * entries + TRANSITIONS_PER_PART * shared * parts;
  // The status of a large pod is computed once in as many milliseconds as it has parts.
  const mayLook = STATUSES_PER_ENTRY * entries + STATUSES_AT_ONCE * parts + elapsedMs;
  const of = `after ${entries} entries, ${shared} of them not about one container or volume, with ${parts} of these`;
  return [
    ...(transitions > mayTransit ? [`${transitions} transitions ${of}, where ${mayTransit} are enough`] : []),
    ...(statuses > mayLook ? [`${statuses} looks at parts of pods ${of}, where ${mayLook} are enough`] : []),
  ];
}
