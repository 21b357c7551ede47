/** In which order the containers of a pod start: init containers and sidecars in turn, then the regular ones (C3, C4). */
import { containersOf } from '../../pod/api/containers.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { lookUp } from '../../pod/lookUp.ts';
import type { ContainerRole } from '../../pod/status/view.ts';
import type { PodContext } from './context.ts';

const namesOf = (pod: Pod, roles: readonly ContainerRole[]): string[] =>
  [...containersOf(pod.spec)].flatMap(({ container, role }) => (roles.includes(role) ? [container.name] : []));

export const initNames = ({ allocated }: PodContext): string[] => namesOf(allocated, ['init', 'sidecar']);
const regularNames = ({ allocated }: PodContext): string[] => namesOf(allocated, ['regular']);
const roleOf = ({ allocated }: PodContext, name: string): ContainerRole | undefined =>
  [...containersOf(allocated.spec)].find(({ container }) => container.name === name)?.role;

/** Who starts as soon as there is a sandbox: the first init container, or all when there is none. */
export const firstTurn = (context: PodContext): string[] => {
  const inits = initNames(context);
  return inits.length > 0 ? inits.slice(0, 1) : regularNames(context);
};

/** The sidecars and regular containers, once they have an actor. */
export const afterInits = (context: PodContext): string[] =>
  namesOf(context.allocated, ['sidecar', 'regular']).filter((name) => Object.hasOwn(context.containers, name));

/** The containers' life cycles when these are told that their turn has come: what they do of it they say later. */
export const onTheirWay = ({ containers }: PodContext, names: readonly string[]): PodContext['containers'] =>
  Object.fromEntries(
    Object.entries(containers).map(([name, lifecycle]) => {
      const sets = lifecycle === 'pending' && names.includes(name);
      return [name, sets ? ('coming' as const) : lifecycle];
    }),
  );

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
  const inits = initNames(context);
  return Object.fromEntries(
    Object.entries(context.containers).map(([name, lifecycle]) => {
      const again = lifecycle === 'succeeded' && inits.includes(name);
      return [name, again ? ('pending' as const) : lifecycle];
    }),
  );
}

/** An init container has failed for good (C1). */
const hasInitFailed = (context: PodContext): boolean =>
  initNames(context).some((name) => lookUp(context.containers, name) === 'failed');

/**
 * A regular container was already made in this sandbox: its init containers had done their part (C3). Not one that was
 * made before an init container, for then the init containers run again before it.
 */
export function wasInitialized(context: PodContext): boolean {
  const lastMade = (role: ContainerRole) =>
    Math.max(-1, ...namesOf(context.allocated, [role]).map((name) => madeAt(context, name)));
  const regular = lastMade('regular');
  return regular >= 0 && regular >= lastMade('init');
}

/** Whether any regular container was ever made, as far as the runtime shows: then its init containers had done their part. */
export const hasBegun = (context: PodContext): boolean =>
  context.observed.containers.some(({ name }) => regularNames(context).includes(name));

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
    ...observed.containers
      .filter((shown) => shown.name === name && shown.sandboxId === sandbox?.id)
      .map(({ createdAt }) => createdAt),
  );

/** The init container that comes next, once it has an actor. */
export function nextInit(context: PodContext): string | undefined {
  const name = initNames(context).find((each) => !context.turnsGiven.includes(each));
  return name !== undefined && Object.hasOwn(context.containers, name) ? name : undefined;
}

/** The ephemeral containers that are to start in the present sandbox, once they have an actor. */
export const newEphemeral = (context: PodContext): string[] =>
  namesOf(context.allocated, ['ephemeral']).filter(
    (name) => Object.hasOwn(context.containers, name) && !context.turnsGiven.includes(name),
  );

/** Those that have had their turn and keep it when all other containers restart. */
export const ephemeralTurnsGiven = (context: PodContext): string[] =>
  context.turnsGiven.filter((name) => roleOf(context, name) === 'ephemeral');

/** The containers that restart with their pod: all but the ephemeral ones. */
export const lastingNames = (context: PodContext): string[] =>
  namesOf(context.allocated, ['init', 'sidecar', 'regular']).filter((name) => Object.hasOwn(context.containers, name));

/** What ran of them has ended, and they wait for their turn again. */
export const isAllReset = (context: PodContext): boolean =>
  lastingNames(context).every((name) =>
    ['pending', 'stopped', 'removed'].includes(lookUp(context.containers, name) ?? ''),
  );

/** All regular containers have ended and none will run again (C9); one that an update stopped may be wanted again. */
const hasNothingLeft = (context: PodContext): boolean =>
  regularNames(context).every((name) => ['succeeded', 'failed'].includes(lookUp(context.containers, name) ?? ''));

/** All regular containers are done, or an init container has failed for good: the pod ends by itself (C9). */
export const isComplete = (context: PodContext): boolean => hasInitFailed(context) || hasNothingLeft(context);
