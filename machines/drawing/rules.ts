/** The rules of Kubernetes that states implement, by their numbers in docs/conformance.md. */
import { isInside } from './regions.ts';

/** Rules of a state and of its substates. An empty state stands for the whole machine. */
interface Followed {
  readonly machine: string;
  readonly state: string;
  readonly rules: readonly string[];
}

const of = (machine: string, states: readonly (readonly [string, ...string[]])[]): Followed[] =>
  states.map(([state, ...rules]) => ({ machine, state, rules }));

/** Lists only states that exist because of a rule or implement one. */
export const stateRules: readonly Followed[] = [
  ...of('container', [
    ['pending.waiting', 'C3', 'C4'],
    ['pending.reset', 'C5'],
    ['pending.gettingImage', 'C17'],
    ['pending.countingRestarts', 'C23'],
    ['adopting.countingRestarts', 'C23'],
    ['launching.readyToCreate', 'C9'],
    ['launching.runningPostStart', 'C9', 'C10'],
    ['running', 'C6'],
    ['running.startingUp', 'C4'],
    ['stopping', 'C10'],
    ['stopping.awaitingOthers', 'C11'],
    ['ended.choosing', 'C5', 'C7'],
    ['ended.startFailed', 'C16', 'C7'],
    ['ended.backingOff', 'C7'],
    ['ended.awaitingReset', 'C5'],
  ]),
  ...of('pod', [
    ['recalling', 'C23'],
    ['sandboxing', 'C8'],
    ['resetting', 'C8'],
    ['active.initializing', 'C3', 'C4'],
    ['active.running', 'C9'],
    ['active.restartingAll', 'C5'],
    ['terminating.beginning', 'C10'],
    ['terminating.containers', 'C10', 'C11'],
    ['terminating.stopping', 'C9'],
    ['terminating.cgroup', 'C9'],
    ['finished', 'C2'],
  ]),
  ...of('image', [
    ['checking', 'C17'],
    ['missing', 'C17'],
    ['failed', 'C16'],
    ['backingOff', 'C16'],
  ]),
];

/** Returns the rules of the innermost enclosing state that has any. */
export function rulesOf(machine: string, state: string): readonly string[] {
  const found = stateRules.filter((each) => each.machine === machine && isInside(state, each.state));
  return found.sort((one, other) => other.state.length - one.state.length)[0]?.rules ?? [];
}
