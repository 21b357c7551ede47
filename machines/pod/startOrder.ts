/** In which order the containers of a pod start: init containers and sidecars in turn, then the regular ones (C3, C4). */

import { lookUp } from '../../base/lookUp.ts';
import { containerNamed, containersOf } from '../../kubernetes/api/containers.ts';
import type { ContainerRole } from '../../kubernetes/status/view.ts';
import { censusOf, initNamesOf, namesOf, withLifecycles } from './census.ts';
import { type PodContext, runsOf } from './context.ts';

export const initNames = ({ allocated }: PodContext): readonly string[] => initNamesOf(allocated.spec);
const regularNames = ({ allocated }: PodContext): readonly string[] => namesOf(allocated.spec, 'regular');
const ephemeralNames = ({ allocated }: PodContext): readonly string[] => namesOf(allocated.spec, 'ephemeral');
const roleOf = ({ allocated }: PodContext, name: string): ContainerRole | undefined =>
  containerNamed(allocated.spec, name)?.role;

/** The names of all containers but those of a few roles, in the order of the spec. */
const namesBut = ({ allocated }: PodContext, ...roles: readonly ContainerRole[]): string[] =>
  containersOf(allocated.spec).flatMap(({ container, role }) => (roles.includes(role) ? [] : [container.name]));

/** Who starts as soon as there is a sandbox: the first init container, or all when there is none. */
export const firstTurn = (context: PodContext): readonly string[] => {
  const inits = initNames(context);
  return inits.length > 0 ? inits.slice(0, 1) : regularNames(context);
};

/** The sidecars and regular containers, once they have an actor. */
export const afterInits = (context: PodContext): string[] =>
  namesBut(context, 'init', 'ephemeral').filter((name) => Object.hasOwn(context.containers, name));

/** The lifecycles of a pod's containers when some of them get their turn. They report later what they make of it. */
export function onTheirWay(context: PodContext, names: readonly string[]): PodContext['containers'] {
  const pending = names.filter((name) => lookUp(context.containers, name) === 'pending');
  return withLifecycles(context, new Map(pending.map((name) => [name, 'coming' as const])));
}

/**
 * Whether the init container whose turn came last has done its part: a sidecar by running, another by succeeding (C3).
 * Those before it had done theirs: a sidecar that has started once and is in back-off now holds up nobody (C4).
 */
export function hasTurnPassed(context: PodContext): boolean {
  const last = initNames(context).findLast((name) => context.turnsGiven.includes(name));
  if (last === undefined) return true;
  const lifecycle = lookUp(context.containers, last);
  return lifecycle === 'succeeded' || (lifecycle === 'running' && roleOf(context, last) === 'sidecar');
}

/** No init container waits for its turn any more. */
export const isLastTurn = (context: PodContext): boolean =>
  initNames(context).every((name) => context.turnsGiven.includes(name));

/** The containers' life cycles in a new sandbox: init containers that were done have to run again (C3). */
export function resetInits(context: PodContext): PodContext['containers'] {
  const again = initNames(context).filter((name) => lookUp(context.containers, name) === 'succeeded');
  return withLifecycles(context, new Map(again.map((name) => [name, 'pending' as const])));
}

/** An init container has failed for good (C1). */
const hasInitFailed = (context: PodContext): boolean => censusOf(context).failedInits > 0;

/**
 * A regular container was already made in this sandbox: its init containers had done their part (C3). Not one that was
 * made before an init container, for then the init containers run again before it.
 */
export function wasInitialized(context: PodContext): boolean {
  const lastMade = (role: ContainerRole) =>
    namesOf(context.allocated.spec, role).reduce((latest, name) => Math.max(latest, madeAt(context, name)), -1);
  const regular = lastMade('regular');
  return regular >= 0 && regular >= lastMade('init');
}

/** Whether any regular container was ever made, as far as the runtime shows: then its init containers had done their part. */
export const hasBegun = (context: PodContext): boolean =>
  regularNames(context).some((name) => runsOf(context.observed, name).length > 0);

/**
 * The init containers that have had their turn in the present sandbox, by what an agent finds of them there: all up to the
 * last one that was made, for each had done its part before the next one's turn came (C4). Not one that was made before
 * an init container in front of it, for then they all run again.
 */
export function earlierTurns(context: PodContext): string[] {
  const inits = initNames(context);
  const last = inits.findLastIndex((name, index) => {
    const before = inits.slice(0, index).filter((each) => roleOf(context, each) === 'init');
    const made = madeAt(context, name);
    return made >= 0 && before.every((each) => made >= madeAt(context, each));
  });
  return inits.slice(0, last + 1);
}

/** When the last container of this name was made in the present sandbox; -1 when none is there. */
const madeAt = ({ observed, sandbox }: PodContext, name: string): number =>
  Math.max(
    -1,
    ...runsOf(observed, name)
      .filter((shown) => shown.sandboxId === sandbox?.id)
      .map(({ createdAt }) => createdAt),
  );

/** The init container that comes next, once it has an actor. */
export function nextInit(context: PodContext): string | undefined {
  const name = initNames(context).find((each) => !context.turnsGiven.includes(each));
  return name !== undefined && Object.hasOwn(context.containers, name) ? name : undefined;
}

/** The ephemeral containers that are to start in the present sandbox, once they have an actor. */
export const newEphemeral = (context: PodContext): string[] =>
  ephemeralNames(context).filter(
    (name) => Object.hasOwn(context.containers, name) && !context.turnsGiven.includes(name),
  );

/** Those that have had their turn and keep it when all other containers restart. */
export const ephemeralTurnsGiven = (context: PodContext): string[] =>
  context.turnsGiven.filter((name) => roleOf(context, name) === 'ephemeral');

/** The containers that restart with their pod: all but the ephemeral ones. */
export const lastingNames = (context: PodContext): string[] =>
  namesBut(context, 'ephemeral').filter((name) => Object.hasOwn(context.containers, name));

/** What ran of them has ended, and they wait for their turn again. */
export const isAllReset = (context: PodContext): boolean =>
  lastingNames(context).every((name) =>
    ['pending', 'stopped', 'removed'].includes(lookUp(context.containers, name) ?? ''),
  );

/** All regular containers have ended and none will run again (C9); one that an update stopped may be wanted again. */
const hasNothingLeft = (context: PodContext): boolean => censusOf(context).unfinishedRegulars === 0;

/** All regular containers are done, or an init container has failed for good: the pod ends by itself (C9). */
export const isComplete = (context: PodContext): boolean => hasInitFailed(context) || hasNothingLeft(context);
