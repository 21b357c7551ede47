/** What a request does with the node, for those who decide whether it may (`GetRequestAttributes` in `pkg/kubelet/server/auth.go`). */

const VERBS: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

/** Empty for a method that is none of these. */
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
/** What no narrower right is for: whoever may that, may run commands in any container. */
const OTHER: readonly string[] = ['proxy'];

/** One of them is needed, asked for in this order. The path is the one that is routed by. */
export const subresourcesOf = (path: string): readonly string[] =>
  TREES.find(([tree]) => path === tree || path.startsWith(`${tree}/`))?.[1] ?? OTHER;
