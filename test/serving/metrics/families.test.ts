/** Each family that a node has: its name, type, stability, labels and bounds are a kubelet's, or it is the agent's own. */
import { expect, test } from '@jest/globals';
import type { PortAnswer } from '../../../actors/portAnswer.ts';
import { NodeFailure, toFailure } from '../../../pod/failure.ts';
import { NO_NAMES } from '../../../pod/node/alternativeNames.ts';
import { boundPod, PODS } from '../../fakes/joinedNode.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';
import { METRICS, OWN, PROBES, SLIS } from './kubeletFamilies.ts';
import { countedNode, type ReadFamily, scraped } from './support/scraped.ts';

const failure = toFailure(new NodeFailure('CreateContainerError', 'no'), 0);
const image = 'example.com/tools:1';
const pod = podWith('fed', {
  containers: [containerWith('main', { volumeMounts: [{ name: 'tools', mountPath: '/t' }] })],
  volumes: [{ name: 'tools', image: { reference: image } }],
});

/** What the story below does not come to. */
const answers: readonly PortAnswer[] = [
  { port: 'runSandbox', input: { pod, attempt: 0 }, ms: 5, failure },
  { port: 'startContainer', input: { pod, container: 'main', id: 'c', attempt: 0 }, ms: 5, failure },
  { port: 'prepareCgroup', input: { pod }, ms: 5, output: null },
  { port: 'requestCertificate', input: { name: 'client', names: NO_NAMES, resumes: false }, ms: 5, failure },
];

/** A node that has done all of it. */
async function busyNode() {
  const counted = await countedNode({ inCluster: true, runtime: { images: { anyPullable: true } } });
  const { node, metrics, cluster } = counted;
  const probe = { exec: { command: ['true'] }, periodSeconds: 1 };
  const containers = [{ ...containerWith('main', { image, livenessProbe: probe }) }];
  await cluster?.ask('POST', PODS, boundPod('web', { containers, volumes: [{ name: 'scratch', emptyDir: {} }] }));
  const cpu = { requests: { cpu: '1000' } };
  await cluster?.ask('POST', PODS, boundPod('large', { containers: [{ ...containerWith('main'), resources: cpu }] }));
  const ending = { restartPolicy: 'Never', containers: [containerWith('main', { command: ['sh', '-c', 'exit 3'] })] };
  await cluster?.ask('POST', PODS, boundPod('ending', ending));
  const lost = { containers: [containerWith('main', { image: 'UPPER/case' })] };
  await cluster?.ask('POST', PODS, boundPod('lost', lost));
  await node.advance('30s');
  for (const answer of answers) metrics.onlookers.answers(answer);
  metrics.runtimeCall({ operation: 'runPodSandbox', request: { runtimeHandler: 'kata' }, ms: 3, hasFailed: true });
  metrics.kubeRequest({ method: 'GET', host: 'api:6443', code: 200, ms: 3 });
  metrics.servedRequest('readwrite')({ method: 'GET', target: '/metrics' })(3);
  metrics.check('ping', true);
  metrics.showLogs(async () => [{ uid: 'u1', namespace: 'default', pod: 'web', container: 'main', bytes: 8_192 }]);
  // The delay of the event loop is known from the second scrape on.
  await scraped(metrics.paths.all);
  await node.advance('20s');
  return counted;
}

const LABEL = /(\w+)="/g;

function described({ type, help, samples }: ReadFamily) {
  const stability = /^\[(\w+)\] /.exec(help)?.[1] ?? '';
  const labels = new Set<string>();
  const bounds = new Set<number>();
  for (const series of samples.keys()) {
    for (const [, label = ''] of series.matchAll(LABEL)) if (label !== 'le') labels.add(label);
    const bound = /[{,]le="([\d.e+-]+)"/.exec(series)?.[1];
    if (bound !== undefined) bounds.add(Number(bound));
  }
  return [type, stability, [...labels].toSorted().join(' '), [...bounds]];
}

const listed = (lists: Readonly<Record<string, readonly unknown[]>>) =>
  Object.fromEntries(
    Object.entries(lists).map(([name, [type, stability, labels = '', bounds = []]]) => [
      ...[name, [type, stability, labels, bounds]],
    ]),
  );

test('C42: every family of every path is as it is listed, and every one listed is there', async () => {
  const { metrics, errors } = await busyNode();
  const of = async (path: keyof typeof metrics.paths) =>
    Object.fromEntries([...(await scraped(metrics.paths[path]))].map(([name, read]) => [name, described(read)]));
  expect(await of('all')).toEqual(listed({ ...METRICS, ...OWN }));
  expect(await of('probes')).toEqual(listed(PROBES));
  expect(await of('slis')).toEqual(listed(SLIS));
  expect(errors).toEqual([]);
});
