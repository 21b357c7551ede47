/** Which machine an actor runs, and how its states are told: found from names alone, for actors that are no more. */
import type { AnyStateMachine } from 'xstate';
import { actorSteps } from '../../show/actors/actorPath.ts';
import { type Category, findCategory } from '../../show/category.ts';
import { machines } from './charts.ts';

const byId: ReadonlyMap<string, AnyStateMachine> = new Map(machines.map((machine) => [machine.id, machine]));

/** The id of the machine that the actor at this path runs; undefined of feeds and calls. */
export function machineAt(path: string): string | undefined {
  if (path === '') return 'nodeAgent';
  const { kind, name = '' } = actorSteps(path).at(-1) ?? {};
  // An id is the machine's, with a name behind a slash where there are several of one machine; limiters have names of their own.
  if (kind === undefined && name.endsWith('Limiter')) return 'limiter';
  const id = kind ?? name;
  return byId.has(id) ? id : undefined;
}

/** The tag of a state, by its dotted path; of regions in parallel, parted by blanks, the worst. */
export const tagOf = (machine: string | undefined, state: string): Category | undefined =>
  findCategory(allTagsOf(machine, state));

/** Whether a state, by its dotted path, has a tag. */
export const hasTag = (machine: string, state: string, tag: string): boolean => allTagsOf(machine, state).includes(tag);

function allTagsOf(machine: string | undefined, state: string): string[] {
  const found = byId.get(machine ?? '');
  return found === undefined ? [] : state.split(' ').flatMap((path) => tagsOf(found, path.split('.')));
}

/** Returns the tags of all states on the way to a state. */
function tagsOf(machine: AnyStateMachine, steps: readonly string[]): string[] {
  let node = machine.root;
  const tags: string[] = [...node.tags];
  for (const step of steps) {
    const next = Object.entries(node.states).find(([key]) => key === step)?.[1];
    if (next === undefined) return [];
    node = next;
    tags.push(...node.tags);
  }
  return tags;
}
