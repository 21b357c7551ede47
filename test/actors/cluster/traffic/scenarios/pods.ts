/** Scenarios about the lifecycle of pods. */
import { IMAGE, type Scenario } from '../scenario.ts';

/** A command that runs until it is stopped, and then exits with 0. */
export const STEADY = 'trap "exit 0" TERM; while :; do sleep 0.3; done';

export const container = (name = 'main', script = STEADY, more: object = {}) => ({
  name,
  image: IMAGE,
  command: ['sh', '-c', script],
  ...more,
});

/** Returns the spec of a pod with these containers. */
const of = (...containers: readonly object[]) => ({ containers });

const ready: Scenario = {
  name: '03-ready',
  title: 'a pod with a readiness probe that succeeds after some seconds',
  sends: { gets: 0, patches: 2, deletes: 0, events: 4, repeats: 2 },
  namespaces: ['ready'],
  untilMs: 200_000,
  // No server listens during the first seconds of the pod.
  serverAt: (_port, ms) => (ms < 142_000 ? { connection: 'refused' } : { respond: () => ({ body: 'root' }) }),
  acts: [
    [
      137_512,
      ({ create }) =>
        create(
          'ready/web',
          of(
            container('main', STEADY, {
              readinessProbe: { httpGet: { path: '/passwd', port: 8080 }, periodSeconds: 2 },
            }),
          ),
        ),
    ],
  ],
};

const crash: Scenario = {
  name: '04-crash',
  title: 'one container of two fails again and again, then the pod is deleted',
  sends: { gets: 2, patches: 9, deletes: 1, events: 8, repeats: 11 },
  namespaces: ['crash'],
  untilMs: 220_000,
  acts: [
    [145_616, ({ create }) => create('crash/two', of(container(), container('bad', 'sleep 2; exit 1')))],
    [210_500, ({ remove }) => remove('crash/two')],
  ],
};

const init: Scenario = {
  name: '05-init',
  title: 'an init container, a sidecar and a container; deleted',
  sends: { gets: 2, patches: 3, deletes: 1, events: 11, repeats: 0 },
  namespaces: ['init'],
  untilMs: 160_000,
  acts: [
    [
      147_062,
      ({ create }) => {
        const startupProbe = { exec: { command: ['true'] }, periodSeconds: 1 };
        const side = container('side', STEADY, { restartPolicy: 'Always', startupProbe });
        return create('init/trio', { initContainers: [container('setup', 'sleep 3'), side], ...of(container()) });
      },
    ],
    [154_640, ({ remove }) => remove('init/trio')],
  ],
};

const never: Scenario = {
  name: '06-never',
  title: 'pods that run once: one succeeds, one fails, one is of a Job',
  sends: { gets: 3, patches: 9, deletes: 0, events: 9, repeats: 0 },
  namespaces: ['never', 'batch'],
  untilMs: 180_000,
  acts: [
    [158_861, ({ create }) => create('never/ok', { restartPolicy: 'Never', ...of(container('main', 'sleep 3')) })],
    [
      158_984,
      ({ create }) => create('never/fail', { restartPolicy: 'Never', ...of(container('main', 'sleep 3; exit 3')) }),
    ],
    [160_000, ({ sayAtEnd }) => sayAtEnd('never/ok', 'main', 'done\n')],
    [166_700, ({ remove }) => remove('never/ok')],
    [166_710, ({ remove }) => remove('never/fail')],
    [
      168_795,
      ({ create }) =>
        create(
          'batch/one-z6hvd',
          { restartPolicy: 'Never', ...of(container('one', 'sleep 2')) },
          { finalizers: ['batch.kubernetes.io/job-tracking'] },
        ),
    ],
    [173_570, ({ ask, path }) => ask('PATCH', path('batch/one-z6hvd'), { metadata: { finalizers: [] } }, MERGE)],
    [174_640, ({ remove }) => remove('batch/one-z6hvd')],
  ],
};

const MERGE = 'application/merge-patch+json';
const UNREACHABLE = 'registry.example.com/app:1';

const pullSecret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'pull' },
  type: 'kubernetes.io/dockerconfigjson',
  stringData: { '.dockerconfigjson': '{"auths": {"registry.example.com": {"username": "me", "password": "hunter2"}}}' },
};

const withSecret = (name: string) => ({
  ...of(container('main', STEADY, { image: UNREACHABLE })),
  imagePullSecrets: [{ name }],
});

const image: Scenario = {
  name: '10-image',
  title: 'two pods whose image cannot be pulled; deleted',
  sends: { gets: 4, patches: 14, deletes: 2, events: 11, repeats: 22 },
  namespaces: ['image'],
  untilMs: 220_000,
  fails: /^pullImage: /,
  runtime: {
    images: {
      registry: {
        [UNREACHABLE]: {
          pullMs: 20,
          error: {
            message: `failed to resolve reference "${UNREACHABLE}": failed to do request: Head "https://registry.example.com/v2/app/manifests/1": dial tcp: lookup registry.example.com on 192.0.2.53:53: no such host`,
          },
        },
      },
    },
  },
  acts: [
    [145_700, ({ ask }) => ask('POST', '/api/v1/namespaces/image/secrets', pullSecret)],
    [145_816, ({ create }) => create('image/missing', withSecret('nosuch'))],
    [145_950, ({ create }) => create('image/present', withSecret('pull'))],
    [210_800, ({ remove }) => remove('image/missing')],
    [210_850, ({ remove }) => remove('image/present')],
  ],
};

const GATE = 'example.com/gate';

const gate: Scenario = {
  name: '11-gate',
  title: 'a readiness gate, which somebody sets; deleted',
  sends: { gets: 2, patches: 3, deletes: 1, events: 4, repeats: 0 },
  namespaces: ['gate'],
  untilMs: 225_000,
  acts: [
    [211_184, ({ create }) => create('gate/g', { readinessGates: [{ conditionType: GATE }], ...of(container()) })],
    [
      215_840,
      ({ ask, path }) => {
        const status = { conditions: [{ type: GATE, status: 'True' }] };
        return ask('PATCH', `${path('gate/g')}/status`, { status }, 'application/strategic-merge-patch+json');
      },
    ],
    [218_090, ({ remove }) => remove('gate/g')],
  ],
};

const deleted: Scenario = {
  name: '12-delete',
  title: 'deleted: one that ignores SIGTERM, one by force, one with a finalizer',
  sends: { gets: 5, patches: 6, deletes: 2, events: 12, repeats: 0 },
  namespaces: ['del'],
  untilMs: 245_000,
  acts: [
    [
      218_229,
      ({ create }) =>
        create('del/ignores', {
          terminationGracePeriodSeconds: 5,
          ...of(container('main', "trap '' TERM; sleep 100000 & wait")),
        }),
    ],
    [218_350, ({ create }) => create('del/forced', of(container()))],
    [218_582, ({ create }) => create('del/finalizer', of(container()), { finalizers: ['example.com/hold'] })],
    [219_660, ({ remove }) => remove('del/ignores')],
    [226_800, ({ remove }) => remove('del/forced', { gracePeriodSeconds: 0 })],
    [233_950, ({ remove }) => remove('del/finalizer')],
    [240_080, ({ ask, path }) => ask('PATCH', path('del/finalizer'), { metadata: { finalizers: [] } }, MERGE)],
  ],
};

const evict: Scenario = {
  name: '16-evict',
  title: 'evicted through the API',
  sends: { gets: 2, patches: 2, deletes: 1, events: 4, repeats: 0 },
  namespaces: ['evict'],
  untilMs: 290_000,
  acts: [
    [280_728, ({ create }) => create('evict/v', of(container()))],
    [
      281_800,
      ({ ask, path }) => {
        const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'v' } };
        return ask('POST', `${path('evict/v')}/eviction`, eviction);
      },
    ],
  ],
};

export const podScenarios: readonly Scenario[] = [ready, crash, init, never, image, gate, deleted, evict];
