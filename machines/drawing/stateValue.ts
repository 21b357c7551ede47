/** Parses a state path back into an XState state value. */
import type { StateValue } from 'xstate';

/** Parses the output of `statePath`, such as `launching.creatingContainer`, or `active.a paused.b` for parallel regions. */
export function stateValueOf(text: string): StateValue {
  const paths = text.split(' ').map((path) => path.split('.'));
  const [[only, ...inner] = ['']] = paths;
  if (paths.length === 1 && inner.length === 0) return only ?? '';
  return Object.fromEntries(
    paths.map(([first = '', ...rest]) => [first, rest.length === 0 ? {} : stateValueOf(rest.join('.'))]),
  );
}
