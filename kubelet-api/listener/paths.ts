/**
 * Lists the paths and methods of the node's server, which are those of the kubelet (`pkg/kubelet/server/server.go`),
 * and determines the responses to requests that match none of them.
 */
import { NOSNIFF_HEADERS, type TextResponse } from '../answers.ts';
import type { Route } from '../exchange.ts';

/** The features of the server that the configuration can turn off. */
export interface EnabledFeatures {
  readonly debugging: boolean;
  readonly systemLogs: boolean;
  readonly profiling: boolean;
  readonly debugFlags: boolean;
}

interface PathRule {
  /**
   * `exact` matches only the path. `tree` also matches all subpaths. `directory` does the same, but redirects the path
   * itself to a trailing slash.
   */
  readonly reach: 'exact' | 'tree' | 'directory';
  /** Allowed numbers of path segments below the path. Undefined allows any number. */
  readonly segmentCounts?: readonly number[];
  /** Accepted methods. Undefined accepts all methods. */
  readonly methods?: readonly string[];
  readonly servesJson?: boolean;
  /** Whether the path is served only if debugging handlers are enabled. */
  readonly isDebugging?: boolean;
}

const GET = ['GET'];
const GET_OR_POST = ['GET', 'POST'];
const DEBUGGING_RULE = { isDebugging: true } as const;
const EXACT_RULE: PathRule = { reach: 'exact' };

export const STATUSZ_PATH = '/statusz';

const PATH_RULES: ReadonlyMap<string, PathRule> = new Map<string, PathRule>([
  ['/pods', { reach: 'tree', segmentCounts: [0], methods: GET, servesJson: true }],
  ['/stats', { reach: 'directory', segmentCounts: [1], methods: GET_OR_POST, servesJson: true }],
  ['/containerLogs', { reach: 'tree', segmentCounts: [3], methods: GET, ...DEBUGGING_RULE }],
  ['/run', { reach: 'tree', segmentCounts: [3, 4], methods: ['POST'], ...DEBUGGING_RULE }],
  ['/exec', { reach: 'tree', segmentCounts: [3, 4], methods: GET_OR_POST, ...DEBUGGING_RULE }],
  ['/attach', { reach: 'tree', segmentCounts: [3, 4], methods: GET_OR_POST, ...DEBUGGING_RULE }],
  ['/portForward', { reach: 'tree', segmentCounts: [2, 3], methods: GET_OR_POST, ...DEBUGGING_RULE }],
  ['/checkpoint', { reach: 'tree', segmentCounts: [3], methods: ['POST'], servesJson: true, ...DEBUGGING_RULE }],
  ['/runningpods', { reach: 'directory', segmentCounts: [0], methods: GET, servesJson: true, ...DEBUGGING_RULE }],
  ['/logs', { reach: 'directory', methods: GET, ...DEBUGGING_RULE }],
  ['/debug/pprof', { reach: 'directory', methods: GET, ...DEBUGGING_RULE }],
  ['/debug/flags/v', { ...EXACT_RULE, ...DEBUGGING_RULE }],
  ['/configz', { ...EXACT_RULE, ...DEBUGGING_RULE }],
  ['/flagz', { ...EXACT_RULE, ...DEBUGGING_RULE }],
  [STATUSZ_PATH, { ...EXACT_RULE, ...DEBUGGING_RULE }],
]);

/** Debugging paths that return a message if debugging is disabled. All other debugging paths return 404. */
const DISABLED_PATHS = [
  '/run',
  '/exec',
  '/attach',
  '/portForward',
  '/containerLogs',
  '/runningpods',
  '/debug/pprof',
  '/logs',
];

interface PathEntry extends PathRule {
  readonly pathPrefix: string;
  /** Undefined if the path is disabled, in which case `disabled` is the message to return. */
  readonly route?: Route;
  readonly disabled?: string;
}

export type PathMatch =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'elsewhere'; readonly path: string }
  /** A fixed response, which still requires authorization. */
  | { readonly kind: 'fixed'; readonly response: TextResponse }
  | { readonly kind: 'route'; readonly route: Route };

export class PathTable {
  readonly #entries = new Map<string, PathEntry>();

  constructor(routes: readonly Route[], enabledFeatures: EnabledFeatures) {
    for (const route of routes) this.#addRoute(route, enabledFeatures);
    for (const disabled of listDisabledPaths(enabledFeatures)) this.#entries.set(disabled.pathPrefix, disabled);
  }

  /** The served paths, sorted and without trailing slashes. */
  get servedPaths(): readonly string[] {
    return [...this.#entries.keys()].toSorted();
  }

  /**
   * The first segments of the paths that a kubelet lists in `/statusz`, sorted. A kubelet omits its web services, which
   * are the paths with subpaths, and `/statusz` itself, which it installs last (`RegisteredHandlePaths` in
   * server/server.go:157, `aggregatePaths` in `pkg/server/statusz` of apiserver).
   */
  get statuszPaths(): readonly string[] {
    const handlers = [...this.#entries.values()].filter(
      ({ reach, disabled, pathPrefix }) => (reach === 'exact' || disabled !== undefined) && pathPrefix !== STATUSZ_PATH,
    );
    return [...new Set(handlers.map(({ pathPrefix }) => `/${pathPrefix.split('/', 2)[1]}`))].toSorted();
  }

  /** Looks up a path, which must be normalized. */
  find(path: string, method: string, accept: string | undefined): PathMatch {
    const entry = this.#findEntry(path);
    if (entry === undefined) return { kind: 'nothing' };
    if (entry.reach === 'directory' && path === entry.pathPrefix) return { kind: 'elsewhere', path: `${path}/` };
    const { route, disabled } = entry;
    if (disabled !== undefined || route === undefined) return createFixedMatch(405, `${disabled}\n`, NOSNIFF_HEADERS);
    const segmentCount = path
      .slice(entry.pathPrefix.length)
      .split('/')
      .filter((name) => name !== '').length;
    if (entry.segmentCounts !== undefined && !entry.segmentCounts.includes(segmentCount))
      return createFixedMatch(404, '404: Page Not Found');
    const { methods } = entry;
    if (methods !== undefined && !methods.includes(method))
      return createFixedMatch(405, '405: Method Not Allowed', { allow: methods.join(', ') });
    if (entry.servesJson && !acceptsJson(accept)) return createFixedMatch(406, NOT_ACCEPTABLE_MESSAGE);
    return { kind: 'route', route };
  }

  #addRoute(route: Route, { debugging: isDebuggingEnabled }: EnabledFeatures): void {
    const pathPrefix = route.pathPrefix.replace(/\/$/, '');
    const rule = PATH_RULES.get(pathPrefix) ?? EXACT_RULE;
    if (rule.isDebugging && !isDebuggingEnabled) return;
    this.#entries.set(pathPrefix, { methods: route.methods, ...rule, pathPrefix, route } as PathEntry);
  }

  /** Returns the entry with the longest path that matches. */
  #findEntry(path: string): PathEntry | undefined {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const entry = this.#entries.get(path.slice(0, end));
      if (entry !== undefined && (entry.reach !== 'exact' || end === path.length)) return entry;
    }
    return undefined;
  }
}

const NOT_ACCEPTABLE_MESSAGE = '406: Not Acceptable\n\nAvailable representations: application/json';

const createFixedMatch = (code: number, text: string, headers?: TextResponse['headers']): PathMatch => ({
  kind: 'fixed',
  response: { code, text, ...(headers ? { headers } : {}) },
});

function listDisabledPaths({ debugging: isDebuggingEnabled, ...parts }: EnabledFeatures): PathEntry[] {
  const createDisabledEntry = (pathPrefix: string, reach: PathRule['reach'], disabled: string) => ({
    pathPrefix,
    reach,
    disabled,
  });
  if (!isDebuggingEnabled)
    return DISABLED_PATHS.map((tree) => createDisabledEntry(tree, 'directory', 'Debug endpoints are disabled.'));
  return [
    ...(parts.systemLogs ? [] : [createDisabledEntry('/logs', 'directory', 'logs endpoint is disabled.')]),
    ...(parts.profiling ? [] : [createDisabledEntry('/debug/pprof', 'directory', 'profiling endpoint is disabled.')]),
    ...(parts.debugFlags ? [] : [createDisabledEntry('/debug/flags/v', 'exact', 'flags endpoint is disabled.')]),
  ];
}

/**
 * Whether the client accepts JSON. A missing header means that the client accepts any type (go-restful's
 * `matchesAccept`, which ignores `application/*`).
 */
function acceptsJson(accept = '*/*'): boolean {
  const acceptedTypes = accept.split(',').map((each) => each.split(';', 1)[0]?.trim());
  return accept === '' || acceptedTypes.some((type) => type === '*/*' || type === 'application/json');
}

/** Resolves `//`, `.` and `..` in a path in the same way as Go's ServeMux. Preserves a trailing slash. */
export function cleanPath(path: string): string {
  const segments: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') segments.pop();
    else if (name !== '' && name !== '.') segments.push(name);
  }
  const isDirectory = path.endsWith('/') && segments.length > 0;
  return `/${segments.join('/')}${isDirectory ? '/' : ''}`;
}

/** Parses the target of a request and ignores its host. Returns null if the target is invalid. */
export function parseTarget(target: string): URL | null {
  if (target.startsWith('/')) return URL.parse(`https://node${target}`);
  const url = URL.parse(target);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : null;
}

/** Returns the path exactly as the client sent it. */
export const rawPath = (target: string): string =>
  target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
