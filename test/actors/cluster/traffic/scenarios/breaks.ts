/** Scenarios in which the node or its API server is down for a while. */
import type { SimulatedNode } from '../../../../fakes/node.ts';
import type { Act, Hands, Scenario } from '../scenario.ts';
import { container } from './pods.ts';

/** Lets the only container of a pod exit, whether or not an agent is running. */
function exits({ runtime }: SimulatedNode, pod: string, code: number): void {
  const found = runtime.contents().containers.find(({ labels }) => labels['io.kubernetes.pod.name'] === pod);
  runtime.exitContainer(found?.id ?? '', code);
}

const one = (script?: string) => ({ containers: [container('main', script)] });

const removes =
  (...pods: readonly string[]) =>
  async ({ remove }: Hands) => {
    for (const pod of pods) await remove(pod);
  };

export const restart: Scenario = {
  name: '21-restart',
  title: 'the node agent dies and comes back, twice; pods end, come and go meanwhile',
  sends: { gets: 11, patches: 15, deletes: 5, events: 30, repeats: 0 },
  namespaces: ['restart'],
  untilMs: 1_147_657,
  acts: [
    [831_415, ({ create }) => create('restart/stays', one())],
    [831_541, ({ create }) => create('restart/ends', one())],
    [831_672, ({ create }) => create('restart/gone', one())],
    [831_829, ({ create }) => create('restart/ends2', { restartPolicy: 'Never', ...one('sleep 8') })],
    [834_441, ({ kill }) => kill()],
    [842_465, removes('restart/gone')],
    [842_570, ({ create }) => create('restart/new', { nodeName: 'node-1', ...one() })],
    [849_800, ({ start }) => start()],
    [888_970, removes('restart/ends', 'restart/ends2', 'restart/new', 'restart/stays')],
    [1_119_495, ({ create }) => create('restart/dies', one())],
    [1_119_620, ({ create }) => create('restart/orphan', one())],
    [1_122_254, ({ kill }) => kill()],
    [1_125_278, ({ node }) => exits(node, 'dies', 137)],
    [1_125_300, ({ remove }) => remove('restart/orphan', { gracePeriodSeconds: 0 })],
    [1_129_500, ({ start }) => start()],
    [1_143_590, removes('restart/dies')],
  ],
};

const isAway =
  (away: boolean): Act[1] =>
  ({ cluster: { transport } }) => {
    transport.isAway = away;
    if (away) transport.cut();
  };

const UNREADY = { conditions: [{ type: 'Ready', status: 'False' }] };
const DOUBTED = ['outage/before', 'outage/crasher', 'outage/steady'];
/** Time at which the controller marks the pods: as soon as the API server is back. */
const MARKED_MS = 958_441;

/** Marks pods as unready, as a controller does while their node does not report. */
const marksUnready = async ({ ask, path }: Hands) => {
  for (const pod of DOUBTED)
    await ask('PATCH', `${path(pod)}/status`, { status: UNREADY }, 'application/strategic-merge-patch+json');
};

const LATE = {
  metadata: { name: 'late', namespace: 'outage', labels: { app: 'late' } },
  spec: { terminationGracePeriodSeconds: 2, ...one() },
};

export const outage: Scenario = {
  name: '22-outage',
  title: 'the API server is away for a minute; pods end, fail and come meanwhile',
  sends: { gets: 20, patches: 11, deletes: 3, events: 15, repeats: 7 },
  namespaces: ['outage'],
  untilMs: 1_015_000,
  settledMs: 1_060_000,
  fails: /ECONNREFUSED|code 403/,
  acts: [
    [895_147, ({ create }) => create('outage/before', { restartPolicy: 'Never', ...one('sleep 25') })],
    [895_267, ({ create }) => create('outage/crasher', one('sleep 30; exit 2'))],
    [895_401, ({ create }) => create('outage/steady', one())],
    [898_213, isAway(true)],
    [918_236, ({ manifest }) => manifest('late', LATE)],
    [958_440, isAway(false)],
    [MARKED_MS, marksUnready],
    [1_010_600, ({ manifest }) => manifest('late')],
    [1_010_670, removes('outage/before', 'outage/crasher', 'outage/steady')],
  ],
};

export const breakScenarios: readonly Scenario[] = [restart, outage];
