/** Compares the transitions that simulations have taken with the documented reasons for those that they do not take. */
import type { AnyStateMachine } from 'xstate';
import type { Coverage } from './coverage.ts';
import { type KnownTransition, keyOf, transitionsOf } from './transitions.ts';
import { appliesTo, reasonOf, unreached } from './unreached.ts';

/**
 * Returns the transitions that were not taken without a reason, those that were taken in spite of one, and reasons
 * without a transition.
 */
export function coverageProblems(coverage: Coverage, machines: readonly AnyStateMachine[]): string[] {
  const missed = new Set(machines.flatMap((machine) => coverage.of(machine).missed.map(keyOf)));
  return machines
    .flatMap(transitionsOf)
    .flatMap((transition) => problemsOf(transition, missed))
    .concat(staleReasons(machines));
}

function problemsOf(transition: KnownTransition, missed: ReadonlySet<string>): string[] {
  const key = keyOf(transition);
  if (missed.has(key)) return reasonOf(transition) === undefined ? [`not taken, without a reason: ${key}`] : [];
  const said = unreached.find((each) => appliesTo(each, transition));
  return said === undefined || said.isRare ? [] : [`taken, although there is a reason why it is not: ${key}`];
}

/** The reasons for transitions that do not exist. */
export const staleReasons = (machines: readonly AnyStateMachine[]): string[] => {
  const all = machines.flatMap(transitionsOf);
  const stale = unreached.filter((each) => !all.some((transition) => appliesTo(each, transition)));
  return stale.map(({ reason, ...rest }) => `a reason for no transition that there is: ${JSON.stringify(rest)}`);
};
