/** The page's data of a node with a container in back-off. */
import type {
  ActorDetail,
  ActorHistory,
  ShownActor,
  ShownObject,
  ShownPod,
  Snapshot,
} from '../../../inspect/protocol.ts';

export const NOW = Date.parse('2026-05-04T07:43:52.000Z');
const H3 = 3 * 3_600_000;

type Given = Partial<ShownActor> & Pick<ShownActor, 'path'>;

/** Creates an idle actor with the given fields. */
export function actor({ path, ...more }: Given): ShownActor {
  const ids = path.split('/');
  const id = ids.at(-1) ?? '';
  return {
    id,
    machine: id,
    kind: id,
    name: id,
    state: 'running',
    tags: ['steady'],
    since: NOW - H3,
    facts: [],
    order: 0,
    ...(path === '' ? {} : { parent: '' }),
    path,
    ...more,
  };
}

interface PodGiven {
  readonly name: string;
  readonly namespace?: string;
  readonly pod?: Partial<ShownPod>;
  readonly tree?: Partial<ShownActor>;
  readonly below?: readonly (Partial<ShownActor> & { readonly id: string })[];
}

/** Creates a pod with its actors. The keys of its descendants are ids such as `container/api`. */
export function podOnPage({ name, namespace = 'shop', pod, tree, below = [] }: PodGiven) {
  const uid = `uid-${name}`;
  const path = `pod/${uid}`;
  const shown: ShownPod = {
    uid,
    namespace,
    name: `${name}-node-1`,
    isStatic: true,
    phase: 'Running',
    status: 'Running',
    ready: '1/1',
    restarts: 0,
    ...pod,
  };
  const actors = [
    actor({ path, id: path, machine: 'pod', kind: 'pod', name: shown.name, state: 'active.running', ...tree }),
    ...below.map(({ id, ...more }, order) => {
      const [above, kind = '', last = ''] = /^(?:(.*)\/)?([^/]+)\/([^/]+)$/.exec(id)?.slice(1) ?? [];
      return actor({
        path: `${path}/${id}`,
        parent: above ? `${path}/${above}` : path,
        order,
        id: `${kind}/${last}`,
        machine: kind,
        kind: kind === 'container' ? 'regular' : kind,
        name: last,
        ...more,
      });
    }),
  ];
  return { pod: shown, actors };
}

/** A pod whose only container runs. */
export const wellPod = (name: string, namespace = 'shop') =>
  podOnPage({ name, namespace, below: [{ id: 'container/main', state: 'running.steady' }] });

const checkout = podOnPage({
  name: 'checkout-api',
  pod: { status: 'CrashLoopBackOff', ready: '1/2', restarts: 5 },
  tree: { since: NOW - 240_000 },
  below: [
    { id: 'volume/settings', state: 'mounted', tags: ['steady', 'mounted'], since: NOW - 240_000 },
    { id: 'volume/tmp', state: 'mounted', tags: ['steady', 'mounted'], since: NOW - 240_000 },
    {
      id: 'container/api',
      state: 'ended.backingOff',
      tags: ['retrying'],
      since: NOW - 112_000,
      waitingFor: 'the end of its back-off',
      until: NOW + 48_000,
      facts: ['5 restarts'],
    },
    { id: 'container/proxy', state: 'running.steady', since: NOW - 240_000 },
    {
      id: 'container/proxy/probe/readiness',
      state: 'passing.waiting',
      tags: ['waiting', 'passing'],
      since: NOW - 6_000,
      until: NOW + 4_000,
      waitingFor: 'its next attempt',
    },
  ],
});

const others = [
  podOnPage({
    name: 'thumbs',
    namespace: 'media',
    pod: { phase: 'Pending', status: 'ImagePullBackOff', ready: '0/1' },
    below: [
      {
        id: 'container/main',
        state: 'pending.gettingImage',
        tags: ['waiting'],
        waitingFor: 'its image',
        since: NOW - 60_000,
      },
      {
        id: 'container/main/image/thumbs',
        state: 'backingOff',
        tags: ['retrying'],
        since: NOW - 30_000,
        until: NOW + 138_000,
        waitingFor: 'another attempt to pull it',
        lastFailure: { reason: 'ErrImagePull', message: 'no such host', at: NOW - 30_000 },
      },
    ],
  }),
  podOnPage({
    name: 'import-nightly',
    namespace: 'batch',
    pod: { phase: 'Failed', status: 'OOMKilled', ready: '0/1' },
    tree: { state: 'finished', tags: ['failed'], since: NOW - 720_000 },
  }),
  podOnPage({
    name: 'postgres',
    namespace: 'data',
    pod: { ready: '0/1' },
    below: [
      {
        id: 'container/main',
        state: 'running.startingUp',
        tags: ['waiting'],
        waitingFor: 'its startup probe',
        since: NOW - 9_000,
        until: NOW + 6_000,
      },
    ],
  }),
  ...['cart', 'encoder'].map((name) =>
    podOnPage({
      name,
      namespace: 'shop',
      pod: { phase: 'Pending', status: 'ContainerCreating', ready: '0/1' },
      tree: { since: NOW - 31_000 },
      below: [
        {
          id: 'container/main',
          state: 'pending.gettingImage',
          tags: ['waiting'],
          since: NOW - 31_000,
          waitingFor: 'a pull slot',
        },
      ],
    }),
  ),
  podOnPage({
    name: 'search',
    pod: { phase: 'Pending', status: 'ContainerCreating', ready: '0/1' },
    below: [
      { id: 'container/main', state: 'launching.creatingContainer.creating', tags: ['working'], since: NOW - 14_000 },
    ],
  }),
  ...['auth', 'catalog', 'payments'].map((name) => wellPod(name)),
  ...['assets', 'blog'].map((name) => wellPod(name, 'web')),
  ...['dns-a', 'ingress', 'gateway'].map((name) => wellPod(name, 'edge')),
  ...['kube-proxy'].map((name) => wellPod(name, 'kube-system')),
  ...['log-agent', 'node-exporter'].map((name) => wellPod(name, 'monitor')),
  podOnPage({
    name: 'migrate',
    namespace: 'batch',
    pod: { phase: 'Succeeded', status: 'Completed', ready: '0/1' },
    tree: { state: 'finished', tags: ['done'] },
  }),
];

const ownActors = [
  actor({ path: '', id: 'nodeAgent', machine: 'nodeAgent', kind: 'node', name: 'node-1' }),
  ...['pleg', 'sources', 'ticker', 'garbage', 'logRotation', 'cgroups', 'admission'].map((path, order) =>
    actor({ path, order }),
  ),
  actor({
    path: 'startLimiter',
    machine: 'limiter',
    kind: 'limiter',
    name: 'start',
    order: 8,
    facts: ['4 of 4 held'],
    lists: { 'held by': [], queued: [] },
  }),
  actor({
    path: 'pullLimiter',
    machine: 'limiter',
    kind: 'limiter',
    name: 'pull',
    order: 9,
    state: 'full',
    lists: { 'held by': ['x/main/pull'], queued: ['uid-cart/main/pull', 'uid-encoder/main/pull'] },
  }),
  actor({
    path: 'eviction',
    order: 10,
    facts: ['memory.available: 400Mi of 1000Mi left, evicts below 100Mi; at the present rate in 6m'],
  }),
];

/** Returns the snapshot of a node with these pods. */
export const snapshotWith = (pods: readonly ReturnType<typeof podOnPage>[], at = NOW): Snapshot => ({
  at,
  mode: 'live',
  node: {
    name: 'node-1',
    version: '0.2.0',
    simulated: false,
    state: 'running',
    tags: ['steady'],
    runtime: { name: 'containerd', version: '1.6.20', ready: true },
    gates: {
      start: { capacity: 4, held: 4, waiting: 3, queue: [] },
      pull: { capacity: 1, held: 1, waiting: 2, queue: ['uid-cart/main/pull', 'uid-encoder/main/pull'] },
    },
    sources: [{ name: '/etc/statelet/manifests' }],
    loop: { p99Ms: 2.1, recentMs: [1, 1.1, 0.9, 1, 0.9, 1.2, 1, 1.9, 2.1, 1.5, 1.3] },
  },
  pods: pods.map(({ pod }) => pod),
  actors: [
    ...ownActors,
    ...pods.flatMap(({ actors }, index) =>
      actors.map((each, at) => (at === 0 ? { ...each, order: 20 + index } : each)),
    ),
  ],
  recorded: { from: at - 1_800_000, to: at },
});

/** The snapshot of the node in the design of the page. */
export const designSnapshot = snapshotWith([...others.slice(3), checkout, ...others.slice(0, 3)]);

export const API = 'pod/uid-checkout-api/container/api';

const run = (run: number, startedAt: string, waitedMs?: number) => ({
  run,
  startedAt: Date.parse(`2026-05-04T${startedAt}.000Z`),
  ranMs: 1_620,
  exitCode: 3,
  reason: 'Error',
  ...(waitedMs === undefined ? {} : { waitedMs }),
});

/** The server's details of the container in back-off. */
export const apiDetail: ActorDetail = {
  path: API,
  at: NOW,
  problems: [],
  answer:
    'container api keeps failing: exit code 3 after 1s: no database at db.shop:5432; restarts at 07:44:40 (in 48s)',
  next: [
    { way: 'a', on: 'timer.elapsed', to: 'pending.restarting', at: NOW + 48_000 },
    { way: 'b', on: 'container.update [changesBackOffKey]', to: 'pending.restarting' },
    { way: 'c', on: 'container.stop', to: 'stopped' },
  ],
  events: [
    {
      type: 'Warning',
      reason: 'BackOff',
      message: 'Back-off restarting failed container api',
      count: 5,
      at: NOW - 10_000,
    },
    { type: 'Normal', reason: 'Started', message: 'Container started', count: 6, at: NOW - 114_000 },
  ],
  log: { lines: ['connecting to db.shop:5432 as redacted-0123456789abcdef', 'no database at db.shop:5432'] },
};

/** The server's details of the eviction. */
export const evictionDetail: ActorDetail = {
  path: 'eviction',
  at: NOW,
  problems: [],
  answer: "eviction is waiting for the next check of the node's resources",
  next: [],
  nextEvictions: ['memory.available: the first pod to be evicted would be shop/cart, because it has priority 0'],
};

/** The history of the container in back-off. */
export const apiHistory: ActorHistory = {
  path: API,
  at: NOW,
  tried: [
    run(1, '07:39:15', 2_000),
    run(2, '07:39:21', 10_000),
    run(3, '07:39:33', 20_000),
    run(4, '07:39:55', 40_000),
    run(5, '07:40:37', 80_000),
    run(6, '07:41:58'),
  ],
  taken: { from: NOW - 1_800_000, ways: [], stays: [] },
};

export const checkoutObject: ShownObject = {
  manifest: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'checkout-api-node-1', namespace: 'shop', labels: {} },
    spec: {
      containers: [
        {
          name: 'api',
          image: 'registry.shop/api:2.1',
          command: ['/bin/sh', '-c', 'set -e\nexec api\n'],
          env: [{ name: 'DB_PASSWORD', value: 'redacted-0123456789abcdef' }],
        },
        { name: 'proxy', image: 'registry.shop/proxy:1' },
      ],
    },
  },
  status: {
    phase: 'Running',
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'ContainersNotReady',
        message: 'containers with unready status: [api]',
        lastTransitionTime: '2026-05-04T07:39:15Z',
      },
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-05-04T07:39:12Z' },
    ],
  },
};
