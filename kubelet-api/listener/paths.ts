/**
 * The paths of a node's server, as a kubelet has them (`pkg/kubelet/server/server.go`): which there are, how far each reaches,
 * and what a request to one is answered by that is not for it.
 */
import { type Fixed, NOSNIFF } from '../answers.ts';
import type { Route } from '../exchange.ts';

/** Those of its parts that a configuration can turn off. */
export interface Switches {
  readonly debugging: boolean;
  readonly systemLogs: boolean;
  readonly profiling: boolean;
  readonly debugFlags: boolean;
}

interface Place {
  /** `exact`: nothing below it is there; `tree`: all below is its own; `directory`: so, but only with a slash after it. */
  readonly reach: 'exact' | 'tree' | 'directory';
  /** How many names may follow it; absent: any. */
  readonly names?: readonly number[];
  /** Absent: any. */
  readonly methods?: readonly string[];
  readonly isJson?: boolean;
  /** Where it is served: everywhere, or only where access is checked and debugging is on. */
  readonly isDebugging?: boolean;
}

const GET = ['GET'];
const EITHER = ['GET', 'POST'];
const debugging = { isDebugging: true } as const;
const EXACT: Place = { reach: 'exact' };

const PLACES: ReadonlyMap<string, Place> = new Map<string, Place>([
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

/** Below these a node without debugging says that it has none; of its other paths it knows nothing. */
const SAID_DISABLED = [
  '/run',
  '/exec',
  '/attach',
  '/portForward',
  '/containerLogs',
  '/runningpods',
  '/debug/pprof',
  '/logs',
];

interface Placed extends Place {
  readonly tree: string;
  /** Absent: there is but `disabled` to say. */
  readonly route?: Route;
  readonly disabled?: string;
}

/** What is found at a path. */
export type Found =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'elsewhere'; readonly path: string }
  /** Whoever may ask it gets that answer. */
  | { readonly kind: 'fixed'; readonly answer: Fixed }
  | { readonly kind: 'route'; readonly route: Route };

export class Paths {
  readonly #placed = new Map<string, Placed>();

  constructor(routes: readonly Route[], switches: Switches) {
    for (const route of routes) this.#place(route, switches);
    for (const disabled of disabledPlaces(switches)) this.#placed.set(disabled.tree, disabled);
  }

  /** Without the slashes of directories, sorted. */
  get trees(): readonly string[] {
    return [...this.#placed.keys()].toSorted();
  }

  /** What a path leads to that has been cleaned. */
  find(path: string, method: string, accept: string | undefined): Found {
    const placed = this.#owner(path);
    if (placed === undefined) return { kind: 'nothing' };
    if (placed.reach === 'directory' && path === placed.tree) return { kind: 'elsewhere', path: `${path}/` };
    const { route, disabled } = placed;
    if (disabled !== undefined || route === undefined) return fixed(405, `${disabled}\n`, NOSNIFF);
    const names = path
      .slice(placed.tree.length)
      .split('/')
      .filter((name) => name !== '').length;
    if (placed.names !== undefined && !placed.names.includes(names)) return fixed(404, '404: Page Not Found');
    const { methods } = placed;
    if (methods !== undefined && !methods.includes(method))
      return fixed(405, '405: Method Not Allowed', { allow: methods.join(', ') });
    if (placed.isJson && !takesJson(accept)) return fixed(406, NOT_ACCEPTABLE);
    return { kind: 'route', route };
  }

  #place(route: Route, { debugging: isOn }: Switches): void {
    const tree = route.tree.replace(/\/$/, '');
    const place = PLACES.get(tree) ?? EXACT;
    if (place.isDebugging && !isOn) return;
    this.#placed.set(tree, { methods: route.methods, ...place, tree, route } as Placed);
  }

  /** That with the longest of the paths above it. */
  #owner(path: string): Placed | undefined {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const placed = this.#placed.get(path.slice(0, end));
      if (placed !== undefined && (placed.reach !== 'exact' || end === path.length)) return placed;
    }
    return undefined;
  }
}

const NOT_ACCEPTABLE = '406: Not Acceptable\n\nAvailable representations: application/json';

const fixed = (code: number, text: string, headers?: Fixed['headers']): Found => ({
  kind: 'fixed',
  answer: { code, text, ...(headers ? { headers } : {}) },
});

function disabledPlaces({ debugging: isOn, ...parts }: Switches): Placed[] {
  const saying = (tree: string, reach: Place['reach'], disabled: string) => ({ tree, reach, disabled });
  if (!isOn) return SAID_DISABLED.map((tree) => saying(tree, 'directory', 'Debug endpoints are disabled.'));
  return [
    ...(parts.systemLogs ? [] : [saying('/logs', 'directory', 'logs endpoint is disabled.')]),
    ...(parts.profiling ? [] : [saying('/debug/pprof', 'directory', 'profiling endpoint is disabled.')]),
    ...(parts.debugFlags ? [] : [saying('/debug/flags/v', 'exact', 'flags endpoint is disabled.')]),
  ];
}

/** Whoever says nothing takes anything (go-restful's `matchesAccept`, which knows no `application/*`). */
function takesJson(accept = '*/*'): boolean {
  const types = accept.split(',').map((each) => each.split(';', 1)[0]?.trim());
  return accept === '' || types.some((type) => type === '*/*' || type === 'application/json');
}

/** A path with each `//`, `.` and `..` resolved, as Go's ServeMux cleans it; the slash at its end stays. */
export function cleanPath(path: string): string {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  const isDirectory = path.endsWith('/') && names.length > 0;
  return `/${names.join('/')}${isDirectory ? '/' : ''}`;
}

/** The address of a request; undefined where that is none. A host in it says nothing. */
export function urlOf(target: string): URL | null {
  if (target.startsWith('/')) return URL.parse(`https://node${target}`);
  const url = URL.parse(target);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : null;
}

/** The path as the client has written it. */
export const writtenPath = (target: string): string =>
  target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
