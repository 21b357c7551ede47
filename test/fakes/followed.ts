/** A reflector on a server with scripted responses, and everything that the reflector reports. */
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { yieldToEventLoop } from '../../base/async/yieldToEventLoop.ts';
import { KubeClient } from '../../kubeclient/client.ts';
import { POD } from '../../kubeclient/paths.ts';
import { type KubeObject, Reflector, type ReflectorOptions, type ReflectorState } from '../../kubeclient/reflector.ts';
import { type Reply, ToldTransport, ToldWatch } from './toldTransport.ts';

const PATH = '/api/v1/pods';
/** Maximum number of events that a test sends at once. */
const MAX_EVENTS = 10;
export const FIRST_END = { 'k8s.io/initial-events-end': 'true' };

export const object = (name: string, version: number, uid = `${name}-uid`) => ({
  ...POD,
  metadata: { name, uid, resourceVersion: String(version) },
});
export const bookmark = (version: number, annotations: object = {}) => ({
  ...POD,
  metadata: { resourceVersion: String(version), annotations },
});

/** Returns a watch that has sent the existing objects and the end of its initial events. */
export function watchOf(version: number, ...objects: readonly object[]): ToldWatch {
  const watch = new ToldWatch();
  for (const each of objects) watch.tell('ADDED', each);
  watch.tell('BOOKMARK', bookmark(version, FIRST_END));
  return watch;
}

const named = (objects: readonly KubeObject[]) =>
  objects.map(({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`);

/** Waits until all events that were sent have been read. Each event takes a turn of the event loop. */
export async function untilRead(clock: SimulatedClock): Promise<void> {
  await clock.advance(0);
  for (let turn = 0; turn < MAX_EVENTS; turn += 1) await yieldToEventLoop();
  await clock.advance(0);
}

export const follow = (...replies: readonly Reply[]) => followPrepared(undefined, ...replies);

/** Starts a reflector that awaits `prepare` for each object of a watch. */
export async function followPrepared(prepare: ReflectorOptions['prepare'], ...replies: readonly Reply[]) {
  const clock = new SimulatedClock();
  const transport = new ToldTransport(...replies);
  const client = new KubeClient({ transport, clock, userAgent: 'statelet/test' });
  const controller = new AbortController();
  const sets: string[][] = [];
  /** The UIDs in each reported set. */
  const uids: string[][] = [];
  const steps: ReflectorState[] = [];
  const problems: string[] = [];
  const running = new Reflector({
    client,
    path: PATH,
    type: POD,
    query: { fieldSelector: 'spec.nodeName=node-1' },
    clock,
    jitter: () => 0.5,
    signal: controller.signal,
    ...(prepare === undefined ? {} : { prepare }),
    onSet: (objects) => {
      sets.push(named(objects));
      uids.push(objects.map(({ metadata: { uid } }) => uid));
    },
    onStep: (step) => steps.push(step),
    onProblem: (problem) => problems.push(problem),
  }).run();
  const heard = () => untilRead(clock);
  await heard();
  /** Returns the query parameters of each request. */
  const queries = () =>
    transport.requests.map(({ path }) => Object.fromEntries(new URLSearchParams(path.split('?')[1])));
  return { heard, clock, transport, controller, running, sets, uids, steps, problems, queries };
}
