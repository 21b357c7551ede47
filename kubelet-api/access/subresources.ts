/**
 * Maps a request to the verb and subresources of its authorization (`GetRequestAttributes` in
 * `pkg/kubelet/server/auth.go`).
 */

const VERBS: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

/** Returns the verb of an HTTP method, or an empty string for a method without one. */
export const verbOf = (method: string): string => VERBS.get(method) ?? '';

const TREES: readonly (readonly [tree: string, subresources: readonly string[]])[] = [
  ['/pods', ['pods', 'proxy']],
  ['/runningpods', ['pods', 'proxy']],
  ['/healthz', ['healthz', 'proxy']],
  ['/configz', ['configz', 'proxy']],
  ['/flagz', ['configz']],
  ['/statusz', ['statusz']],
  ['/stats', ['stats']],
  ['/metrics', ['metrics']],
  ['/logs', ['log']],
  ['/checkpoint', ['checkpoint']],
];
/** Subresource of all other paths. A user with access to it can run commands in any container. */
const OTHER: readonly string[] = ['proxy'];

/**
 * Returns the subresources in the order in which to check them. Access to one of them is sufficient. `path` must be the
 * path used for routing.
 */
export const subresourcesOf = (path: string): readonly string[] =>
  TREES.find(([tree]) => path === tree || path.startsWith(`${tree}/`))?.[1] ?? OTHER;
