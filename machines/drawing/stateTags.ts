/**
 * Looks up an actor's machine and the tags of its states by name only, so that the lookup also works for actors that no
 * longer exist.
 */
import type { AnyStateMachine } from 'xstate';
import { actorSteps } from '../../show/actors/actorPath.ts';
import { type Category, findCategory } from '../../show/category.ts';
import { machines } from './charts.ts';

const machinesById: ReadonlyMap<string, AnyStateMachine> = new Map(machines.map((machine) => [machine.id, machine]));

/** Returns the ID of the machine that the actor at this path runs, or undefined for feeds and calls. */
export function machineAt(path: string): string | undefined {
  if (path === '') return 'nodeAgent';
  const { kind, name = '' } = actorSteps(path).at(-1) ?? {};
  // An actor's ID is its machine's ID, followed by a slash and a name if the machine has several actors. Limiters have
  // names of their own.
  if (kind === undefined && name.endsWith('Limiter')) return 'limiter';
  const id = kind ?? name;
  return machinesById.has(id) ? id : undefined;
}

/**
 * Returns the category of the state at a dotted path. If `state` consists of the paths of parallel states, separated by
 * spaces, returns the most severe category.
 */
export const stateCategory = (machine: string | undefined, state: string): Category | undefined =>
  findCategory(allTagsOf(machine, state));

/** Whether the state at a dotted path has a tag. */
export const hasTag = (machine: string, state: string, tag: string): boolean => allTagsOf(machine, state).includes(tag);

function allTagsOf(machine: string | undefined, state: string): string[] {
  const stateMachine = machinesById.get(machine ?? '');
  return stateMachine === undefined ? [] : state.split(' ').flatMap((path) => tagsOf(stateMachine, path.split('.')));
}

/** Returns the tags of a state and its ancestors. */
function tagsOf(machine: AnyStateMachine, steps: readonly string[]): string[] {
  let node = machine.root;
  const tags: string[] = [...node.tags];
  for (const step of steps) {
    const childNode = Object.entries(node.states).find(([key]) => key === step)?.[1];
    if (childNode === undefined) return [];
    node = childNode;
    tags.push(...node.tags);
  }
  return tags;
}
