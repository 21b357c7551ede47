/** The labels of a chart's transitions: what an event, a guard and an action are called in a diagram. */
import type { AnyStateNode } from 'xstate';

const DONE = 'xstate.done.actor.';
const FAILED = 'xstate.error.actor.';

/** An event as people say it: the answer of a port by the port's name, empty for a transition that needs none. */
export function eventName(node: AnyStateNode, event: string): string {
  if (event.startsWith(DONE)) return `${actorName(node, event.slice(DONE.length))} done`;
  if (event.startsWith(FAILED)) return `${actorName(node, event.slice(FAILED.length))} failed`;
  if (event.startsWith('xstate.done.state.')) return 'done';
  return event;
}

function actorName(node: AnyStateNode, id: string): string {
  const invoked = node.invoke.find((each) => each.id === id);
  return invoked ? String(invoked.src) : 'a child';
}

/** A guard's name, as its machine's setup gives it; `one and other` for a conjunction. */
export function guardName(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  if (isNamed(guard)) return guard.type;
  if (isCombined(guard)) return guard.guards.map(guardName).join(` ${guard.name} `);
  throw new Error('a guard in a chart has no name');
}

/** The names of an action; none for one that only writes down what the event brought. */
export function actionNames(action: unknown): string[] {
  if (typeof action === 'string') return [action];
  return isNamed(action) ? [action.type] : [];
}

const isNamed = (value: unknown): value is { type: string } =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const isCombined = (value: unknown): value is { name: string; guards: readonly unknown[] } =>
  typeof value === 'function' && 'guards' in value && Array.isArray(value.guards);
