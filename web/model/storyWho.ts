/** Whom a line of a story is about, and who told it. */
import type { EnteredLine } from '../../inspect/protocol.ts';
import { actorSteps } from '../../show/actorPath.ts';

/** Who makes something happen, as a line of the story names it. */
export type Who = 'timer' | 'runtime' | 'gate' | 'source' | 'cluster' | 'probe' | 'volume' | 'node';

/** What an actor is, as the story puts it into lanes. */
export type ActorKind = 'pod' | 'volume' | 'container' | 'probe' | 'image' | 'other';

const FEEDS: ReadonlyMap<string, Who> = new Map([
  ['sources', 'source'],
  ['outside', 'source'],
  ['watches', 'cluster'],
  ['pleg', 'runtime'],
  ['runtimeHealth', 'runtime'],
  ['ticker', 'timer'],
]);

const PORTS: ReadonlyMap<string, Who> = new Map(
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
      'resizeContainer',
      'removeContainers',
      'inspectContainer',
      'runHook',
      'removeGarbage',
    ],
    probe: ['runProbe'],
    volume: ['mountVolume', 'unmountVolume'],
  } satisfies Partial<Record<Who, readonly string[]>>).flatMap(([who, ports]) =>
    // The keys of the object above.
    ports.map((port): [string, Who] => [port, who as Who]),
  ),
);

/** Who answers a port; what the node does itself is the node's. */
export const whoAnswers = (port: string): Who => PORTS.get(port) ?? 'node';

/** Who let a line in. */
export function whoTold({ outcome, source }: Pick<EnteredLine, 'outcome' | 'source'>): Who {
  if (outcome === 'elapsed') return 'timer';
  return outcome === 'fact' ? (FEEDS.get(source) ?? 'node') : whoAnswers(source);
}

/** The calls of an actor go by the number and the place of their state in its chart. */
const CALL = /^\d+\./;

/** The machine's actor that a path names: of a call or a timer the one that made it. */
export function ownerOf(path: string): string {
  const cut = path.lastIndexOf('/') + 1;
  if (!CALL.test(path.slice(cut))) return path;
  return path.slice(0, Math.max(0, cut - 1));
}

/** What the actor at a path is. */
export function kindOf(path: string): ActorKind {
  const { kind, name } = actorSteps(path).at(-1) ?? {};
  return kind ?? (name === 'image' ? 'image' : 'other');
}

/** What an actor is called among those of its pod: `api`, `pod`, `readiness`. */
export function nameOf(path: string): string {
  if (kindOf(path) === 'pod') return 'pod';
  return path === '' ? 'nodeAgent' : (path.split('/').at(-1) ?? path);
}

/** How many actors lie between two, of which one is above the other; undefined: neither is. */
export function distanceOf(one: string, other: string): number | undefined {
  const [above, below] = one.length <= other.length ? [one, other] : [other, one];
  const isBelow = above === '' || above === below || below.startsWith(`${above}/`);
  return isBelow ? depthOf(below) - depthOf(above) : undefined;
}

const depthOf = (path: string): number => (path === '' ? 0 : path.split('/').length);

/** Whether an actor is another one or below it. */
export const isWithin = (path: string, above: string): boolean =>
  path === above || above === '' || path.startsWith(`${above}/`);

/** States that say no more than the one that they are in. */
const PLAIN = new Set(['steady', 'waiting', 'idle']);

/** A state in the fewest words that tell it: `launching.making.creating` is `creating`, `running.steady` itself. */
export function shortState(state: string): string {
  const steps = state.split('.');
  return steps.slice(PLAIN.has(steps.at(-1) ?? '') ? -2 : -1).join('.');
}

/** A state as what became of another one: in full words where more than its end is new. */
export function changedState(from: string | undefined, to: string): string {
  const [top] = to.split('.');
  const short = shortState(to);
  if (from === undefined || from.split('.')[0] === top || short.split('.')[0] === top) return short;
  return `${top}.${short}`;
}
