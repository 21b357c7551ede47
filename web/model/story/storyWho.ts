/** Determines the actor and the source of a story line. */
import type { EnteredLine } from '../../../inspect/protocol.ts';
import { actorSteps } from '../../../show/actors/actorPath.ts';

/** The source of an input, as named in the story. */
export type Source = 'timer' | 'runtime' | 'gate' | 'source' | 'cluster' | 'probe' | 'volume' | 'node';

/** The kind of an actor, which determines its lane. */
export type ActorKind = 'pod' | 'volume' | 'container' | 'probe' | 'image' | 'other';

const FEED_SOURCES: ReadonlyMap<string, Source> = new Map([
  ['sources', 'source'],
  ['outside', 'source'],
  ['watches', 'cluster'],
  ['pleg', 'runtime'],
  ['runtimeHealth', 'runtime'],
  ['ticker', 'timer'],
]);

const PORT_SOURCES: ReadonlyMap<string, Source> = new Map(
  Object.entries({
    runtime: [
      'runSandbox',
      'inspectSandbox',
      'stopSandboxes',
      'removeSandboxes',
      'restartRuntime',
      'findImage',
      'pullImage',
      'createContainer',
      'startContainer',
      'stopContainer',
      'resizePod',
      'removeContainers',
      'inspectContainer',
      'runHook',
      'removeGarbage',
      'collectImages',
      'removeUnusedImages',
    ],
    probe: ['runProbe'],
    volume: ['mountVolume', 'unmountVolume'],
  } satisfies Partial<Record<Source, readonly string[]>>).flatMap(([who, ports]) =>
    // Safe cast: `who` is a key of the object above.
    ports.map((port): [string, Source] => [port, who as Source]),
  ),
);

/** Returns the component that implements a port. Ports without an entry are implemented by the node. */
export const portOwner = (port: string): Source => PORT_SOURCES.get(port) ?? 'node';

export function inputSource({ outcome, source }: Pick<EnteredLine, 'outcome' | 'source'>): Source {
  if (outcome === 'elapsed') return 'timer';
  return outcome === 'fact' ? (FEED_SOURCES.get(source) ?? 'node') : portOwner(source);
}

/**
 * Matches the id of a call or timer, which consists of an index and the path of the state that invokes the call or
 * timer.
 */
const CALL_SEGMENT = /^\d+\./;

/**
 * Returns the path of the state machine to which an actor belongs. For a call or a timer, this is its parent. For any
 * other actor, it is the actor itself.
 */
export function machineActorOf(path: string): string {
  const lastSegmentStart = path.lastIndexOf('/') + 1;
  if (!CALL_SEGMENT.test(path.slice(lastSegmentStart))) return path;
  return path.slice(0, Math.max(0, lastSegmentStart - 1));
}

export function kindOf(path: string): ActorKind {
  const { kind, name } = actorSteps(path).at(-1) ?? {};
  return kind ?? (name === 'image' ? 'image' : 'other');
}

/** Returns the name of an actor within its pod, e.g. `api`, `pod` or `readiness`. */
export function nameOf(path: string): string {
  if (kindOf(path) === 'pod') return 'pod';
  return path === '' ? 'nodeAgent' : (path.split('/').at(-1) ?? path);
}

/** Returns the number of levels between two actors in the tree. Undefined if neither is an ancestor of the other. */
export function distanceOf(a: string, b: string): number | undefined {
  const [above, below] = a.length <= b.length ? [a, b] : [b, a];
  const isDescendant = above === '' || above === below || below.startsWith(`${above}/`);
  return isDescendant ? depthOf(below) - depthOf(above) : undefined;
}

const depthOf = (path: string): number => (path === '' ? 0 : path.split('/').length);

/** Whether the actor at `path` is the actor at `above` or one of its descendants. */
export const isWithin = (path: string, above: string): boolean =>
  path === above || above === '' || path.startsWith(`${above}/`);

/** Names of substates that are not informative without their parent. */
const UNINFORMATIVE_STATES = new Set(['steady', 'waiting', 'idle']);

/**
 * Returns the shortest informative name of a state, e.g. `creating` for `launching.creatingContainer.creating`, but
 * `running.steady` for `running.steady`.
 */
export function shortState(state: string): string {
  const segments = state.split('.');
  return segments.slice(UNINFORMATIVE_STATES.has(segments.at(-1) ?? '') ? -2 : -1).join('.');
}

/** Returns the name of a state after a transition. Includes the top-level state if it has changed. */
export function changedState(from: string | undefined, to: string): string {
  const [top] = to.split('.');
  const shortStateName = shortState(to);
  if (from === undefined || from.split('.')[0] === top || shortStateName.split('.')[0] === top) return shortStateName;
  return `${top}.${shortStateName}`;
}
