/** The state of an actor as a machine knows it, from the text by which people are told of it. */
import type { StateValue } from 'xstate';

/** `launching.making`, or `active.a paused.b` of regions in parallel: what `statePath` makes of a state. */
export function stateValueOf(text: string): StateValue {
  const paths = text.split(' ').map((path) => path.split('.'));
  const [[only, ...inner] = ['']] = paths;
  if (paths.length === 1 && inner.length === 0) return only ?? '';
  return Object.fromEntries(
    paths.map(([first = '', ...rest]) => [first, rest.length === 0 ? {} : stateValueOf(rest.join('.'))]),
  );
}
