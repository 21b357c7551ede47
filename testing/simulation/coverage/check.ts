/** Compares the transitions that simulations have taken with the declared reasons for those that they do not take. */
import type { AnyStateMachine } from 'xstate';
import type { Coverage } from './coverage.ts';
import { type KnownTransition, keyOf, transitionsOf } from './transitions.ts';

/** Returns the transitions that were not taken without a reason, and those that were taken in spite of one. */
export function coverageProblems(coverage: Coverage, machines: readonly AnyStateMachine[]): string[] {
  const missed = new Set(machines.flatMap((machine) => coverage.of(machine).missed.map(keyOf)));
  return machines.flatMap(transitionsOf).flatMap((transition) => problemsOf(transition, missed));
}

function problemsOf(transition: KnownTransition, missed: ReadonlySet<string>): string[] {
  const key = keyOf(transition);
  const { coverageGap } = transition;
  if (missed.has(key)) return coverageGap === undefined ? [`not taken, without a reason: ${key}`] : [];
  return coverageGap === undefined || coverageGap.isRare
    ? []
    : [`taken, although there is a reason why it is not: ${key}`];
}
