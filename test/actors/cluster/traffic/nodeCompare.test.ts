/** Whether the comparison of what a node tells of itself would see what is otherwise. */
import { expect, test } from '@jest/globals';
import { nodeAccount } from './nodeAccount.ts';
import { nodeDifferences } from './nodeCompare.ts';
import { recordedRequests, type SentRequest } from './recording.ts';

type Change = (request: SentRequest, all: readonly SentRequest[]) => readonly SentRequest[];

/** What differs where each request of a recording is as the function has it. */
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
  ['another reason', withText('PATCH', 'KubeletNotReady', 'NotReady'), 'the status: the patch {"conditions"'],
  ['another message', withText('PATCH', 'container runtime is down', 'it is down'), 'the status: no patch'],
  ['a field less', withText('PATCH', 'containerRuntimeVersion', 'runtimeVersion'), 'the status: no patch {"nodeInfo"'],
  ['a patch less', (each) => (isStatus(each) ? [] : [each]), 'the status: no patch'],
  ['a patch more', (each) => (isStatus(each) ? [each, each] : [each]), '6 PATCHes of the Node, a kubelet sends 3'],
  ['a patch that comes late', (each) => [isStatus(each) ? { ...each, ms: each.ms + 12_000 } : each], '12 s later'],
  ['another event', withText('POST', 'NodeNotReady', 'NodeAway'), 'events: no event Node node1 status is now: NodeNot'],
  ['another type', withText('POST', '"type":"Normal"', '"type":"Warning"'), 'the new event Warning NodeNotReady'],
  ['a lease that is renewed more often', (each) => [{ ...each, ms: each.ms / 2 }], 'the lease: renewed after 5 s'],
  [
    'a lease of another time',
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
    'a label less',
    withText('POST', '"kubernetes.io/os"', '"os"'),
    'no field POST nodes metadata.labels.kubernetes.io/os',
  ],
  [
    'another amount',
    withText('POST', '"pods":"110"', '"pods":"250"'),
    'the field POST nodes status.capacity.pods: 250',
  ],
  ['another owner', withText('POST', '"kind":"Node"', '"kind":"Pod"'), 'POST csinodes metadata.ownerReferences'],
  ['a CSINode less', (each) => (isCsiNode(each) ? [] : [each]), 'the start: no request POST /apis/storage.k8s.io'],
  [
    'another order',
    (each, all) => (isCsiNode(each) ? [] : isNode(each) ? [...all.filter(isCsiNode), each] : [each]),
    'the start: the order of its requests',
  ],
  ['another kind of request', (each) => (isNode(each) ? [each, { ...each, verb: 'PUT' }] : [each]), 'also PUT'],
  [
    'a field of events',
    withText('POST', '"involvedObject":{', '"involvedObject":{"uid":"x",'),
    'field involvedObject.uid',
  ],
];

test.each(REGISTER)('%s is detected as a difference during registration', (_what, change, text) => {
  expect(found('01-register', change).join('\n')).toContain(text);
});

const BOOTSTRAP: readonly (readonly [what: string, change: Change, text: string])[] = [
  ['another name', withText('POST', '"generateName":"csr-"', '"name":"mine"'), 'certificates: no request'],
  ['another usage', withText('POST', '"server auth"', '"client auth"'), 'certificates: the request'],
  [
    'a look more',
    (each) => (each.path.endsWith('certificatesigningrequests') && each.verb === 'GET' ? [each, each] : [each]),
    '8 requests about certificates, a kubelet sends 6',
  ],
];

test.each(BOOTSTRAP)('%s is detected as a difference in certificate requests', (_what, change, text) => {
  expect(found('24-bootstrap', change).join('\n')).toContain(text);
});
