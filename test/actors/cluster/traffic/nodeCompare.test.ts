/** Checks that the comparison of the requests of a node about itself detects differences. */
import { expect, test } from '@jest/globals';
import { nodeAccount } from './nodeAccount.ts';
import { nodeDifferences } from './nodeCompare.ts';
import { recordedRequests, type SentRequest } from './recording.ts';

type Change = (request: SentRequest, all: readonly SentRequest[]) => readonly SentRequest[];

/** Returns the differences that result from replacing each request of a recording by those that `change` returns. */
function found(scenario: string, change: Change): string[] {
  const all = recordedRequests(scenario);
  const [kubelet, node] = [all, all.flatMap((each) => change(each, all))].map((each) => nodeAccount([each]));
  if (kubelet === undefined || node === undefined) throw new Error('nothing is compared');
  return nodeDifferences(kubelet, node, kubelet).map(({ about, what }) => `${about}: ${what}`);
}

const withText =
  (verb: string, from: string, to: string): Change =>
  (request) => {
    const text = JSON.stringify(request.body ?? null);
    return [request.verb === verb ? { ...request, body: JSON.parse(text.replaceAll(from, to)) } : request];
  };

const isStatus = ({ verb, path }: SentRequest) => verb === 'PATCH' && path === '/api/v1/nodes/node1/status';
const isCsiNode = ({ verb, path }: SentRequest) => verb === 'POST' && path.endsWith('/csinodes');
const isNode = ({ verb, path }: SentRequest) => verb === 'POST' && path.endsWith('/nodes');

test('two node runs that differ only in times and UIDs compare as equal', () => {
  for (const scenario of [
    '01-register',
    '17-node',
    '19-idle',
    '20-runtime',
    '22-outage',
    '23-nodedelete',
    '24-bootstrap',
  ])
    expect(found(scenario, (request) => [request])).toEqual([]);
  expect(found('01-register', withText('POST', '2026-11-22', '2026-01-01'))).toEqual([]);
  expect(found('01-register', withText('POST', '8c21e1e2-c88c', '8c21e1e2-0000'))).toEqual([]);
});

const RUNTIME: readonly (readonly [what: string, change: Change, text: string])[] = [
  ['a different reason', withText('PATCH', 'KubeletNotReady', 'NotReady'), 'the status: the patch {"conditions"'],
  ['a different message', withText('PATCH', 'container runtime is down', 'it is down'), 'the status: no patch'],
  [
    'a missing field',
    withText('PATCH', 'containerRuntimeVersion', 'runtimeVersion'),
    'the status: no patch {"nodeInfo"',
  ],
  ['a missing patch', (each) => (isStatus(each) ? [] : [each]), 'the status: no patch'],
  [
    'an additional patch',
    (each) => (isStatus(each) ? [each, each] : [each]),
    '6 PATCHes of the Node, a kubelet sends 3',
  ],
  ['a late patch', (each) => [isStatus(each) ? { ...each, ms: each.ms + 12_000 } : each], '12 s later'],
  [
    'a different event',
    withText('POST', 'NodeNotReady', 'NodeAway'),
    'events: no event Node node1 status is now: NodeNot',
  ],
  [
    'a different event type',
    withText('POST', '"type":"Normal"', '"type":"Warning"'),
    'the new event Warning NodeNotReady',
  ],
  ['a lease that is renewed more often', (each) => [{ ...each, ms: each.ms / 2 }], 'the lease: renewed after 5 s'],
  [
    'a lease with a different duration',
    withText('PUT', '"leaseDurationSeconds":40', '"leaseDurationSeconds":60'),
    'the lease: no',
  ],
  ['a lease that is read', (each) => [each, { ...each, verb: 'GET' }], 'GETs of the lease, a kubelet sends 0'],
];

test.each(RUNTIME)('%s is detected as a difference', (_what, change, text) => {
  expect(found('20-runtime', change).join('\n')).toContain(text);
});

const REGISTER: readonly (readonly [what: string, change: Change, text: string])[] = [
  [
    'a missing label',
    withText('POST', '"kubernetes.io/os"', '"os"'),
    'no field POST nodes metadata.labels.kubernetes.io/os',
  ],
  [
    'a different capacity',
    withText('POST', '"pods":"110"', '"pods":"250"'),
    'the field POST nodes status.capacity.pods: 250',
  ],
  ['a different owner', withText('POST', '"kind":"Node"', '"kind":"Pod"'), 'POST csinodes metadata.ownerReferences'],
  ['a missing CSINode', (each) => (isCsiNode(each) ? [] : [each]), 'the start: no request POST /apis/storage.k8s.io'],
  [
    'a different order',
    (each, all) => (isCsiNode(each) ? [] : isNode(each) ? [...all.filter(isCsiNode), each] : [each]),
    'the start: the order of its requests',
  ],
  ['a different kind of request', (each) => (isNode(each) ? [each, { ...each, verb: 'PUT' }] : [each]), 'also PUT'],
  [
    'an additional field of events',
    withText('POST', '"involvedObject":{', '"involvedObject":{"uid":"x",'),
    'field involvedObject.uid',
  ],
];

test.each(REGISTER)('%s is detected as a difference during registration', (_what, change, text) => {
  expect(found('01-register', change).join('\n')).toContain(text);
});

const BOOTSTRAP: readonly (readonly [what: string, change: Change, text: string])[] = [
  ['a different name', withText('POST', '"generateName":"csr-"', '"name":"mine"'), 'certificates: no request'],
  ['a different usage', withText('POST', '"server auth"', '"client auth"'), 'certificates: the request'],
  [
    'an additional read',
    (each) => (each.path.endsWith('certificatesigningrequests') && each.verb === 'GET' ? [each, each] : [each]),
    '8 requests about certificates, a kubelet sends 6',
  ],
];

test.each(BOOTSTRAP)('%s is detected as a difference in certificate requests', (_what, change, text) => {
  expect(found('24-bootstrap', change).join('\n')).toContain(text);
});
