/**
 * Determines the API verb and the subresources for which a request must be authorized (`GetRequestAttributes` in
 * `pkg/kubelet/server/auth.go`).
 */

const VERBS_BY_METHOD: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

/** Returns the API verb that corresponds to an HTTP method, or an empty string if there is none. */
export const toVerb = (method: string): string => VERBS_BY_METHOD.get(method) ?? '';

const SUBRESOURCES_BY_PATH: readonly (readonly [tree: string, subresources: readonly string[]])[] = [
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
/**
 * The subresource for paths without a specific one. It is the most powerful subresource, because a user with access to
 * `nodes/proxy` can run commands in any container.
 */
const DEFAULT_SUBRESOURCES: readonly string[] = ['proxy'];

/**
 * Returns the subresources in the order in which to check them. Access to any of them is sufficient. `path` must be the
 * path used for routing.
 */
export const findSubresources = (path: string): readonly string[] =>
  SUBRESOURCES_BY_PATH.find(([tree]) => path === tree || path.startsWith(`${tree}/`))?.[1] ?? DEFAULT_SUBRESOURCES;
