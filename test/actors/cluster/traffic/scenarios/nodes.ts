/** Scenarios about the reports of a node about itself. */
import type { Hands, NodeScenario } from '../scenario.ts';
import { outage, restart } from './breaks.ts';

const NODE = '/api/v1/nodes/node-1';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1';
const CSI_NODE = '/apis/storage.k8s.io/v1/csinodes/node-1';
const MERGE = 'application/merge-patch+json';

const register: NodeScenario = {
  name: '01-register',
  title: 'a node starts whose Node is not there, and is idle for a minute',
  sendsOfNode: { nodeGets: 2, leaseGets: 2, csiNodeGets: 1, patches: 1, renewals: 6, certificates: 0, events: 5 },
  namespaces: [],
  untilMs: 62_000,
  startsMs: 0,
  acts: [],
};

const changes =
  (spec: object, metadata: object = {}) =>
  ({ ask }: Hands) =>
    ask('PATCH', NODE, { spec, metadata }, MERGE);

const TAINTS = [{ key: 'example.com/taint', value: 'x', effect: 'NoSchedule' }];

const changed: NodeScenario = {
  name: '17-node',
  title: 'the Node gets a label and a taint, is cordoned, and all is taken back',
  sendsOfNode: { nodeGets: 0, leaseGets: 0, csiNodeGets: 0, patches: 0, renewals: 3, certificates: 0, events: 2 },
  namespaces: [],
  // A recorded cordon of six seconds is left out, because its effect depends on when the node checks.
  windows: [
    [286_303, 298_470],
    [712_709, 739_867],
  ],
  untilMs: 739_867,
  acts: [
    [286_303, changes({}, { labels: { 'example.com/label': 'x' } })],
    [292_384, changes({ taints: TAINTS })],
    [304_556, changes({ taints: null }, { labels: { 'example.com/label': null } })],
    [712_709, changes({ unschedulable: true })],
    [727_788, changes({ unschedulable: null })],
  ],
};

const idle: NodeScenario = {
  name: '19-idle',
  title: 'nothing is done for six minutes',
  sendsOfNode: { nodeGets: 0, leaseGets: 0, csiNodeGets: 0, patches: 1, renewals: 36, certificates: 0, events: 0 },
  namespaces: [],
  windows: [[322_910, 692_935]],
  untilMs: 692_935,
  acts: [[322_910, () => {}]],
};

const runtime: NodeScenario = {
  name: '20-runtime',
  title: 'the runtime is away for forty seconds',
  sendsOfNode: { nodeGets: 0, leaseGets: 0, csiNodeGets: 0, patches: 3, renewals: 6, certificates: 0, events: 2 },
  namespaces: [],
  windows: [[766_047, 831_287]],
  untilMs: 831_287,
  fails: /connection error/,
  acts: [
    [766_047, ({ node }) => node.runtime.down()],
    [806_128, ({ node }) => node.runtime.restart()],
  ],
};

const restarted: NodeScenario = {
  name: '21-restart',
  namespaces: restart.namespaces,
  acts: restart.acts,
  title: 'the node agent dies and comes back, twice',
  sendsOfNode: { nodeGets: 2, leaseGets: 2, csiNodeGets: 2, patches: 2, renewals: 7, certificates: 0, events: 8 },
  windows: [
    [831_415, 893_000],
    [1_119_495, 1_147_657],
  ],
  untilMs: restart.untilMs,
};

const UNKNOWN = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
  type,
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
}));

/** Marks the conditions of a Node as unknown, as a controller does while the node does not report. */
const doubts = ({ ask }: Hands) =>
  ask('PATCH', `${NODE}/status`, { status: { conditions: UNKNOWN } }, 'application/strategic-merge-patch+json');

const away: NodeScenario = {
  name: '22-outage',
  namespaces: outage.namespaces,
  fails: /ECONNREFUSED|code 403/,
  title: 'the API server is away for a minute',
  sendsOfNode: { nodeGets: 9, leaseGets: 14, csiNodeGets: 0, patches: 1, renewals: 11, certificates: 0, events: 4 },
  windows: [[895_147, 1_014_000]],
  untilMs: 1_014_000,
  acts: outage.acts.flatMap((each) => (each[0] === 958_440 ? [[958_439, doubts], each] : [each])),
};

const deleted: NodeScenario = {
  name: '23-nodedelete',
  title: 'the Node is deleted; its node begins anew 75 s later',
  sendsOfNode: { nodeGets: 41, leaseGets: 9, csiNodeGets: 1, patches: 1, renewals: 3, certificates: 0, events: 5 },
  namespaces: [],
  windows: [[1_016_705, 1_118_411]],
  untilMs: 1_118_411,
  fails: /NotFound|not found|no Node/,
  acts: [
    [1_016_705, ({ ask }) => ask('DELETE', NODE)],
    // The objects that the Node owned are deleted with it.
    [1_017_000, ({ ask }) => ask('DELETE', LEASE)],
    [1_017_001, ({ ask }) => ask('DELETE', CSI_NODE)],
    [1_091_932, ({ kill }) => kill()],
    [1_093_300, ({ start }) => start()],
  ],
};

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const APPROVED = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'X', message: 'by hand' }] } };

/** Approves the requests for serving certificates, as an administrator would. */
async function approves({ ask }: Hands): Promise<void> {
  const { items } = await ask('GET', REQUESTS);
  // A list has items, and each item has a name.
  for (const { metadata, spec } of items as readonly { metadata: { name: string }; spec: { signerName: string } }[])
    if (spec.signerName.endsWith('kubelet-serving'))
      await ask('PATCH', `${REQUESTS}/${metadata.name}/approval`, APPROVED, MERGE);
}

const bootstrap: NodeScenario = {
  name: '24-bootstrap',
  title: 'a node starts without a certificate, by a bootstrap token, and asks for one to serve with',
  sendsOfNode: { nodeGets: 3, leaseGets: 1, csiNodeGets: 1, patches: 1, renewals: 6, certificates: 4, events: 5 },
  namespaces: [],
  untilMs: 1_215_000,
  startsMs: 1_153_584,
  bootstraps: true,
  fails: /no client certificate yet/,
  acts: [[1_173_715, approves]],
};

export const NODE_SCENARIOS: readonly NodeScenario[] = [
  register,
  changed,
  idle,
  runtime,
  restarted,
  away,
  deleted,
  bootstrap,
];
