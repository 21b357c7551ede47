/** Formats the labels of transitions in diagrams. */
import type { AnyStateNode, AnyTransitionDefinition } from 'xstate';

const DONE_PREFIX = 'xstate.done.actor.';
const ERROR_PREFIX = 'xstate.error.actor.';

/**
 * Returns the label of an event. The completion of a port is labeled with the port's name, and an eventless transition
 * has no label.
 */
function eventName(node: AnyStateNode, event: string): string {
  if (event.startsWith(DONE_PREFIX)) return `${actorName(node, event.slice(DONE_PREFIX.length))} done`;
  if (event.startsWith(ERROR_PREFIX)) return `${actorName(node, event.slice(ERROR_PREFIX.length))} failed`;
  if (event.startsWith('xstate.done.state.')) return 'done';
  return event;
}

function actorName(node: AnyStateNode, id: string): string {
  const invocation = node.invoke.find((each) => each.id === id);
  return invocation ? String(invocation.src) : 'a child';
}

/** Labels a transition as `event [guard]`, or `else` if it follows transitions with guards. */
export function transitionLabel(
  { source, eventType, guard }: AnyTransitionDefinition,
  candidates: readonly AnyTransitionDefinition[],
) {
  const condition = guard ? guardName(guard) : candidates[0]?.guard ? 'else' : undefined;
  return [eventName(source, eventType), ...(condition ? [`[${condition}]`] : [])].filter(Boolean).join(' ');
}

/**
 * Returns the name of a guard in the machine's setup. Combined guards are rendered as `a and b`, `a or b` and `not a`.
 */
export function guardName(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  if (hasType(guard)) return guard.type;
  if (isCombinedGuard(guard)) {
    // Remove the number that a bundler appends to a function whose name is already in use.
    const operator = guard.name.replace(/\d+$/, '');
    const names = guard.guards.map(guardName);
    return operator === 'not' ? `not ${names.join()}` : names.join(` ${operator} `);
  }
  throw new Error('a guard in a chart has no name');
}

/** Returns the names of an action. Inline assignments have no name. */
export function actionNames(action: unknown): string[] {
  if (typeof action === 'string') return [action];
  return hasType(action) ? [action.type] : [];
}

const hasType = (value: unknown): value is { type: string } =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const isCombinedGuard = (value: unknown): value is { name: string; guards: readonly unknown[] } =>
  typeof value === 'function' && 'guards' in value && Array.isArray(value.guards);
