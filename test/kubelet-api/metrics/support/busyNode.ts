/** Creates a node that has done everything that its metrics count. */
import type { PortOutcome } from '../../../../actors/portOutcome.ts';
import { NodeFailure, toFailure } from '../../../../base/failure.ts';
import { NO_NAMES } from '../../../../kubernetes/node/alternativeNames.ts';
import { simulatedCpuManager } from '../../../../testing/simulation/host/cpuTopologies.ts';
import { boundPod, PODS } from '../../../fakes/joinedNode.ts';
import { containerWith, podWith } from '../../../fakes/pods.ts';
import { countedNode, scraped } from './scraped.ts';

const STRATEGIC = 'application/strategic-merge-patch+json';
const failure = toFailure(new NodeFailure('CreateContainerError', 'no'), 0);
const image = 'example.com/tools:1';
const pod = podWith('fed', {
  containers: [containerWith('main', { volumeMounts: [{ name: 'tools', mountPath: '/t' }] })],
  volumes: [{ name: 'tools', image: { reference: image } }],
});

/** Responses of the ports that the story below does not reach. */
const answers: readonly PortOutcome[] = [
  { port: 'registerNode', input: null, ms: 5, output: { uid: 'n', events: [], isNew: true } },
  {
    port: 'resizePod',
    input: { pod, appliedPod: undefined, sandboxId: 's', containers: [] },
    ms: 5,
    output: { pod, resized: [] },
  },
  { port: 'runSandbox', input: { pod, attempt: 0 }, ms: 5, failure },
  { port: 'startContainer', input: { pod, container: 'main', id: 'c', attempt: 0 }, ms: 5, failure },
  { port: 'prepareCgroup', input: { pod }, ms: 5, output: null },
  {
    port: 'allocateDevices',
    input: { uid: 'u', pod: 'default/fed', container: 'main', resource: 'example.com/gpu', devices: ['g0'] },
    ms: 5,
    failure,
  },
  { port: 'prepareClaims', input: { pod }, ms: 5, failure },
  { port: 'requestCertificate', input: { name: 'client', names: NO_NAMES, resumes: false }, ms: 5, failure },
];

/** Creates a node in which every metric family has a series. */
export async function busyNode() {
  const counted = await countedNode({
    inCluster: true,
    runtime: { images: { anyPullable: true } },
    config: { cpuManager: simulatedCpuManager('laptop') },
  });
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
  const small = [{ ...containerWith('main'), resources: { requests: { cpu: '10m' } } }];
  await cluster?.ask('POST', PODS, boundPod('grows', { containers: small }));
  await node.advance('30s');
  const grows = node.agent.pods().find(({ metadata }) => metadata.name === 'grows');
  if (grows === undefined) throw new Error('there is no pod grows');
  // A resize to a different QoS class is infeasible, and no API server accepts such an update.
  const bestEffort = { ...grows, spec: { ...grows.spec, containers: [containerWith('main')] } };
  node.agent.send({
    type: 'config.podChanged',
    source: 'api',
    at: node.clock.now(),
    change: 'updated',
    pod: bestEffort,
  });
  await node.advance('2s');
  for (const amount of ['20m', '1000']) {
    const resize = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: amount } } }] } };
    await cluster?.ask('PATCH', `${PODS}/grows/resize`, resize, STRATEGIC);
    await node.advance('5s');
  }
  for (const answer of answers) metrics.observers.onPortOutcome(answer);
  metrics.onRuntimeCall({ operation: 'runPodSandbox', request: { runtimeHandler: 'kata' }, ms: 3, hasFailed: true });
  metrics.cluster.onTransportCreated();
  const requests = metrics.cluster.createRequestObserver('api:6443');
  requests.onRateLimited('GET', 3);
  requests.onAttempt({ method: 'GET', code: 200, isRetry: true, sentBytes: 70 });
  requests.onResponse('GET', 70);
  requests.onCompleted('GET', 3);
  metrics.cluster.credentials.called({ status: 'no_error', code: 0 });
  metrics.cluster.credentials.caReloaded({ result: 'success', reason: 'unchanged' });
  metrics.observeServedRequests('readwrite')({ method: 'GET', target: '/metrics' })(3);
  metrics.observeServedRequests('readwrite')({ method: 'GET', target: '/exec/default/web/main', isWebSocket: true })(3);
  const victim = { actor: 'pod/victim', at: 1 };
  metrics.observers.onStateChange({ ...victim, state: 'active' });
  metrics.observers.onDecision({ type: 'decision.counted', decision: 'preempted', uid: 'victim', resource: 'cpu' });
  metrics.observers.onDecision({
    type: 'decision.counted',
    decision: 'evicted',
    uid: 'victim',
    cause: 'memory.available',
  });
  metrics.observers.onDecision({
    type: 'decision.counted',
    decision: 'evictionStatsUsed',
    signal: 'memory.available',
    ageMs: 3,
  });
  metrics.observers.onStateChange({ ...victim, state: 'terminated' });
  metrics.observers.onDecision({
    type: 'decision.counted',
    decision: 'deferredResizeAccepted',
    trigger: 'pods_removed',
  });
  metrics.observers.onDecision({
    type: 'decision.counted',
    decision: 'resourcesAllocated',
    counts: {
      isPerPod: false,
      pinningRequests: 2,
      pinningErrors: 1,
      memoryPinningRequests: 2,
      memoryPinningErrors: 1,
      topologyErrors: 1,
      physicalCpuAligned: 1,
      physicalCpuFailures: 1,
      uncoreCacheAligned: 1,
      numaAligned: 1,
      numaFailures: 1,
    },
  });
  metrics.observers.onServiceAction({ action: 'devicePluginRegistered', resource: 'example.com/gpu' });
  metrics.observers.onServiceAction({ action: 'volumeMeasured', ms: 3 });
  metrics.observers.onServiceAction({ action: 'driverCalled', driver: 'gpu', method: '/Prepare', code: 'OK', ms: 3 });
  for (const result of ['credentialPolicyAllowed', 'error'] as const)
    metrics.observers.onServiceAction({ action: 'pullChecked', result });
  for (const reason of ['age', 'space'] as const)
    metrics.observers.onServiceAction({ action: 'imageCollected', reason });
  metrics.providerObserver.ran({ provider: 'ecr', ms: 3, hasFailed: true });
  metrics.providerObserver.configured('sha256:00');
  for (const kind of ['authn', 'authz'] as const) metrics.accessObserver.reviewCompleted(kind, 201, 3);
  metrics.accessObserver.tokenCache.startLookup()(true);
  metrics.accessObserver.tokenCache.startFetch()(true);
  for (const method of ['list', 'get', 'get_allocatable'] as const) metrics.podResourcesListener('v1', method)();
  metrics.checkListener('ping', true);
  metrics.addPlugins(() => [{ socketPath: '/registry/gpu.sock', isAccepted: true }]);
  metrics.addLogUsage(async () => [{ uid: 'u1', namespace: 'default', pod: 'web', container: 'main', bytes: 8_192 }]);
  // The delay of the event loop has a value from the second scrape on.
  await scraped(metrics.registries.all);
  await node.advance('20s');
  return counted;
}
