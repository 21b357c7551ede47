/** Formats the labels of transitions in diagrams. */
import type { AnyStateNode, AnyTransitionDefinition } from 'xstate';

const DONE = 'xstate.done.actor.';
const FAILED = 'xstate.error.actor.';

/**
 * Returns the label of an event. The completion of a port is labelled with the port's name, and an eventless transition
 * has no label.
 */
function eventName(node: AnyStateNode, event: string): string {
  if (event.startsWith(DONE)) return `${actorName(node, event.slice(DONE.length))} done`;
  if (event.startsWith(FAILED)) return `${actorName(node, event.slice(FAILED.length))} failed`;
  if (event.startsWith('xstate.done.state.')) return 'done';
  return event;
}

function actorName(node: AnyStateNode, id: string): string {
  const invoked = node.invoke.find((each) => each.id === id);
  return invoked ? String(invoked.src) : 'a child';
}

/** Labels a transition as `event [guard]`, or `else` if it follows transitions with guards. */
export function wayLabel(
  { source, eventType, guard }: AnyTransitionDefinition,
  tried: readonly AnyTransitionDefinition[],
) {
  const condition = guard ? guardName(guard) : tried[0]?.guard ? 'else' : undefined;
  return [eventName(source, eventType), ...(condition ? [`[${condition}]`] : [])].filter(Boolean).join(' ');
}

/**
 * Returns the name of a guard in the machine's setup. Combined guards are rendered as `one and other`, `one or other`
 * and `not one`.
 */
export function guardName(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  if (isNamed(guard)) return guard.type;
  if (isCombined(guard)) {
    // A bundler appends a number to a function whose name is already in use.
    const word = guard.name.replace(/\d+$/, '');
    const names = guard.guards.map(guardName);
    return word === 'not' ? `not ${names.join()}` : names.join(` ${word} `);
  }
  throw new Error('a guard in a chart has no name');
}

/** Returns the names of an action. Inline assignments have no name. */
export function actionNames(action: unknown): string[] {
  if (typeof action === 'string') return [action];
  return isNamed(action) ? [action.type] : [];
}

const isNamed = (value: unknown): value is { type: string } =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const isCombined = (value: unknown): value is { name: string; guards: readonly unknown[] } =>
  typeof value === 'function' && 'guards' in value && Array.isArray(value.guards);
