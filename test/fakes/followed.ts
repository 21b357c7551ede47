/** A reflector over a server whose every answer a test says beforehand, and what it tells. */
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { yieldToEventLoop } from '../../base/async/yieldToEventLoop.ts';
import { KubeClient } from '../../kubeclient/client.ts';
import { POD } from '../../kubeclient/paths.ts';
import { type KubeObject, Reflector, type ReflectorOptions, type ReflectorState } from '../../kubeclient/reflector.ts';
import { type Reply, ToldTransport, ToldWatch } from './toldTransport.ts';

const PATH = '/api/v1/pods';
/** No test sends more events at once. */
const MOST_TOLD = 10;
export const FIRST_END = { 'k8s.io/initial-events-end': 'true' };

export const object = (name: string, version: number, uid = `${name}-uid`) => ({
  ...POD,
  metadata: { name, uid, resourceVersion: String(version) },
});
export const bookmark = (version: number, annotations: object = {}) => ({
  ...POD,
  metadata: { resourceVersion: String(version), annotations },
});

/** A watch that has told what there is at first. */
export function watchOf(version: number, ...objects: readonly object[]): ToldWatch {
  const watch = new ToldWatch();
  for (const each of objects) watch.tell('ADDED', each);
  watch.tell('BOOKMARK', bookmark(version, FIRST_END));
  return watch;
}

const named = (objects: readonly KubeObject[]) =>
  objects.map(({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`);

/** Waits until all events that were sent have been read. Each of several events takes a turn of the event loop. */
export async function untilRead(clock: SimulatedClock): Promise<void> {
  await clock.advance(0);
  for (let turn = 0; turn < MOST_TOLD; turn += 1) await yieldToEventLoop();
  await clock.advance(0);
}

export const follow = (...replies: readonly Reply[]) => followPrepared(undefined, ...replies);

/** The reflector awaits `prepare` for each object of a watch. */
export async function followPrepared(prepare: ReflectorOptions['prepare'], ...replies: readonly Reply[]) {
  const clock = new SimulatedClock();
  const transport = new ToldTransport(...replies);
  const client = new KubeClient({ transport, clock, userAgent: 'statelet/test' });
  const controller = new AbortController();
  const sets: string[][] = [];
  /** The UIDs of each set. */
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
  /** The queries of what was asked. */
  const queries = () =>
    transport.requests.map(({ path }) => Object.fromEntries(new URLSearchParams(path.split('?')[1])));
  return { heard, clock, transport, controller, running, sets, uids, steps, problems, queries };
}
