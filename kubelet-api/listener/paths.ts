/**
 * Lists the paths of the node's server, like those of a kubelet (`pkg/kubelet/server/server.go`), with their methods,
 * and determines the responses to requests that do not match.
 */
import { NOSNIFF, type TextResponse } from '../answers.ts';
import type { Route } from '../exchange.ts';

/** The parts of the server that the configuration can turn off. */
export interface EnabledFeatures {
  readonly debugging: boolean;
  readonly systemLogs: boolean;
  readonly profiling: boolean;
  readonly debugFlags: boolean;
}

interface PathRule {
  /**
   * `exact` matches the path only, `tree` includes all subpaths, and `directory` also includes all subpaths but
   * redirects the path itself to a trailing slash.
   */
  readonly reach: 'exact' | 'tree' | 'directory';
  /** Allowed counts of path segments after the path. Any count if undefined. */
  readonly names?: readonly number[];
  /** Accepted methods. All methods if undefined. */
  readonly methods?: readonly string[];
  readonly isJson?: boolean;
  /** Whether the path is served only if debugging handlers are enabled. */
  readonly isDebugging?: boolean;
}

const GET = ['GET'];
const EITHER = ['GET', 'POST'];
const debugging = { isDebugging: true } as const;
const EXACT: PathRule = { reach: 'exact' };

const PATH_RULES: ReadonlyMap<string, PathRule> = new Map<string, PathRule>([
  ['/pods', { reach: 'tree', names: [0], methods: GET, isJson: true }],
  ['/stats', { reach: 'directory', names: [1], methods: EITHER, isJson: true }],
  ['/containerLogs', { reach: 'tree', names: [3], methods: GET, ...debugging }],
  ['/run', { reach: 'tree', names: [3, 4], methods: ['POST'], ...debugging }],
  ['/exec', { reach: 'tree', names: [3, 4], methods: EITHER, ...debugging }],
  ['/attach', { reach: 'tree', names: [3, 4], methods: EITHER, ...debugging }],
  ['/portForward', { reach: 'tree', names: [2, 3], methods: EITHER, ...debugging }],
  ['/checkpoint', { reach: 'tree', names: [3], methods: ['POST'], isJson: true, ...debugging }],
  ['/runningpods', { reach: 'directory', names: [0], methods: GET, isJson: true, ...debugging }],
  ['/logs', { reach: 'directory', methods: GET, ...debugging }],
  ['/debug/pprof', { reach: 'directory', methods: GET, ...debugging }],
  ['/debug/flags/v', { ...EXACT, ...debugging }],
  ['/configz', { ...EXACT, ...debugging }],
  ['/flagz', { ...EXACT, ...debugging }],
  ['/statusz', { ...EXACT, ...debugging }],
]);

/** Paths with an explicit response if debugging is disabled. All other debugging paths return 404. */
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
  readonly tree: string;
  /** Undefined if the path is disabled. */
  readonly route?: Route;
  readonly disabled?: string;
}

/** The result of a lookup. */
export type PathMatch =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'elsewhere'; readonly path: string }
  /** A fixed response, which still requires authorization. */
  | { readonly kind: 'fixed'; readonly answer: TextResponse }
  | { readonly kind: 'route'; readonly route: Route };

export class Paths {
  readonly #entries = new Map<string, PathEntry>();

  constructor(routes: readonly Route[], switches: EnabledFeatures) {
    for (const route of routes) this.#addRoute(route, switches);
    for (const disabled of disabledPlaces(switches)) this.#entries.set(disabled.tree, disabled);
  }

  /** The served paths, sorted and without trailing slashes. */
  get trees(): readonly string[] {
    return [...this.#entries.keys()].toSorted();
  }

  /** Looks up a path, which must be in its normal form. */
  find(path: string, method: string, accept: string | undefined): PathMatch {
    const entry = this.#findEntry(path);
    if (entry === undefined) return { kind: 'nothing' };
    if (entry.reach === 'directory' && path === entry.tree) return { kind: 'elsewhere', path: `${path}/` };
    const { route, disabled } = entry;
    if (disabled !== undefined || route === undefined) return fixed(405, `${disabled}\n`, NOSNIFF);
    const names = path
      .slice(entry.tree.length)
      .split('/')
      .filter((name) => name !== '').length;
    if (entry.names !== undefined && !entry.names.includes(names)) return fixed(404, '404: Page Not Found');
    const { methods } = entry;
    if (methods !== undefined && !methods.includes(method))
      return fixed(405, '405: Method Not Allowed', { allow: methods.join(', ') });
    if (entry.isJson && !acceptsJson(accept)) return fixed(406, NOT_ACCEPTABLE);
    return { kind: 'route', route };
  }

  #addRoute(route: Route, { debugging: isOn }: EnabledFeatures): void {
    const tree = route.tree.replace(/\/$/, '');
    const rule = PATH_RULES.get(tree) ?? EXACT;
    if (rule.isDebugging && !isOn) return;
    this.#entries.set(tree, { methods: route.methods, ...rule, tree, route } as PathEntry);
  }

  /** Returns the entry with the longest matching path. */
  #findEntry(path: string): PathEntry | undefined {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const entry = this.#entries.get(path.slice(0, end));
      if (entry !== undefined && (entry.reach !== 'exact' || end === path.length)) return entry;
    }
    return undefined;
  }
}

const NOT_ACCEPTABLE = '406: Not Acceptable\n\nAvailable representations: application/json';

const fixed = (code: number, text: string, headers?: TextResponse['headers']): PathMatch => ({
  kind: 'fixed',
  answer: { code, text, ...(headers ? { headers } : {}) },
});

function disabledPlaces({ debugging: isOn, ...parts }: EnabledFeatures): PathEntry[] {
  const saying = (tree: string, reach: PathRule['reach'], disabled: string) => ({ tree, reach, disabled });
  if (!isOn) return DISABLED_PATHS.map((tree) => saying(tree, 'directory', 'Debug endpoints are disabled.'));
  return [
    ...(parts.systemLogs ? [] : [saying('/logs', 'directory', 'logs endpoint is disabled.')]),
    ...(parts.profiling ? [] : [saying('/debug/pprof', 'directory', 'profiling endpoint is disabled.')]),
    ...(parts.debugFlags ? [] : [saying('/debug/flags/v', 'exact', 'flags endpoint is disabled.')]),
  ];
}

/**
 * Whether the client accepts JSON. A missing header means that everything is accepted (go-restful's `matchesAccept`,
 * which ignores `application/*`).
 */
function acceptsJson(accept = '*/*'): boolean {
  const types = accept.split(',').map((each) => each.split(';', 1)[0]?.trim());
  return accept === '' || types.some((type) => type === '*/*' || type === 'application/json');
}

/** Resolves `//`, `.` and `..` in a path like Go's ServeMux. Preserves a trailing slash. */
export function cleanPath(path: string): string {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  const isDirectory = path.endsWith('/') && names.length > 0;
  return `/${names.join('/')}${isDirectory ? '/' : ''}`;
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
