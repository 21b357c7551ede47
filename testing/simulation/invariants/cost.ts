/** The work of the agent, counted in transitions and in parts of pods that statuses are computed from; never in time. */
import type { Entry } from '../../../actors/boundary.ts';
import { containersOf } from '../../../kubernetes/api/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Invariant, Watched } from './invariant.ts';

/** Transitions that a fact about one part of a pod leads to at most, in the mean of a stretch. */
const TRANSITIONS_PER_ENTRY = 12;
/** Transitions of each part of each pod that a fact about a pod, the runtime or the node leads to at most. */
const TRANSITIONS_PER_PART = 6;
/** Parts of pods that are looked at for statuses after one fact at most, in the mean of a stretch: those of a small pod. */
const LOOKS_PER_ENTRY = 20;
/** Statuses of a large pod at most in the time that it is looked at once: the first and the last are computed at once. */
const LOOKS_AT_ONCE = 4;
/**
 * Transitions that an entry for an actor of one pod leads to at most, before the next entry: those of one batch of commands
 * to its containers, each of which starts a call, and a few of every pod that gets what this one has released.
 */
const TRANSITIONS_PER_STEP = 400;
const TRANSITIONS_PER_OTHER_POD = 12;
/** A stretch has this many entries at least, so that what a few of them lead to counts little. */
const STRETCH = 100;

const partsOf = ({ spec }: Pod): number => containersOf(spec).length + (spec.volumes ?? []).length;

/** Whether an entry is about one container or volume of a pod: then others of the pod have no part in it. */
const isOfPart = ({ actor }: Entry): boolean => /^pod\/[^/]*\/(container|volume)\//.test(actor);

interface Work {
  entries: number;
  /** Entries that are not about one part of a pod. */
  shared: number;
  transitions: number;
  looks: number;
  /** The most parts that the pods of the node had together. */
  parts: number;
  /** The pods that had a status. */
  readonly pods: Map<string, number>;
  readonly since: number;
}

export const cost: Invariant = {
  number: 12,
  says: 'What a fact costs is a function of what it is about, not of how much there is on the node.',
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
      onLifeBegan: () => {
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
        work.looks += parts;
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
  looks: 0,
  parts: sum(pods.values()),
  pods,
  since: host.clock.elapsed,
});

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0);

/** Work that the entries of a stretch do not account for. */
function excess({ entries, shared, transitions, looks, parts }: Work, elapsedMs: number): string[] {
  const mayTransit = TRANSITIONS_PER_ENTRY * entries + TRANSITIONS_PER_PART * shared * parts;
  // A large pod is looked at once in as many milliseconds as it has parts.
  const mayLook = LOOKS_PER_ENTRY * entries + LOOKS_AT_ONCE * parts + elapsedMs;
  const of = `after ${entries} entries, ${shared} of them not about one container or volume, with ${parts} of these`;
  return [
    ...(transitions > mayTransit ? [`${transitions} transitions ${of}, where ${mayTransit} are enough`] : []),
    ...(looks > mayLook ? [`${looks} looks at parts of pods ${of}, where ${mayLook} are enough`] : []),
  ];
}
