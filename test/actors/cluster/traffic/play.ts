/** Plays a recorded scenario on a simulated node, with the actions of its users at their recorded times. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEventRecorder } from '../../../../actors/events/eventRecorder.ts';
import { EventSender } from '../../../../actors/events/eventSender.ts';
import type { EventSink } from '../../../../actors/events/eventSink.ts';
import type { Network } from '../../../../actors/services/http/network.ts';
import type { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { SimulatedNetwork } from '../../../../actors/simulated/simulatedNetwork.ts';
import { openGate } from '../../../../host/simulated/gate.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import type { KubeTransport } from '../../../../kubeclient/transport.ts';
import { startControllers } from '../../../../testing/apiserver/controllers/controllers.ts';
import { defaultPolicy } from '../../../../testing/apiserver/controllers/signer.ts';
import { Authority } from '../../../../testing/apiserver/serving/authority.ts';
import { type Cluster, cluster } from '../../../fakes/cluster.ts';
import { notedMounts } from '../../../fakes/mounter.ts';
import { type SimulatedNode, simulatedNode } from '../../../fakes/node.ts';
import { withoutCertificate } from './beginner.ts';
import { placeOf, type SentRequest } from './recording.ts';
import { type Hands, IMAGE, isOf, type Played } from './scenario.ts';

/** The resources of the recorded node, which reserves a little memory. */
const PAGES = { 'hugepages-1Gi': 0, 'hugepages-2Mi': 0 };
const CAPACITY = {
  cpuMillis: 2_000,
  memoryBytes: 24_684_092 * 1_024,
  pods: 110,
  extra: { 'ephemeral-storage': 264_212_084 * 1_024, ...PAGES },
};
const ALLOCATABLE = {
  ...CAPACITY,
  memoryBytes: 24_683_068 * 1_024,
  extra: { 'ephemeral-storage': 270_282_620_830, ...PAGES },
};
const LABELS = {
  'beta.kubernetes.io/arch': 'amd64',
  'beta.kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'amd64',
  'kubernetes.io/hostname': 'node-1',
  'kubernetes.io/os': 'linux',
};
const HOST = {
  machineID: '00000000000000000000000000000001',
  systemUUID: '00000000-0000-0000-0000-000000000002',
  bootID: '00000000-0000-0000-0000-000000000003',
  kernelVersion: '6.1.0',
  osImage: 'Linux',
  architecture: 'amd64',
  kubeletVersion: 'v1.36.2+statelet.test',
};
/** The sandbox image of the simulated runtime. */
const PAUSE = 'statelet.local/pause:1';
/** Time in milliseconds between the start of the node and the first action. */
const SETTLED_MS = 5_000;

/** Plays a scenario, and returns the requests of the node. */
export async function played(scenario: Played): Promise<readonly SentRequest[]> {
  const [first = [0]] = scenario.acts;
  let now = scenario.startsMs ?? first[0] - SETTLED_MS;
  const { node, sent, hands } = await begin(scenario, now);
  const zero = node.clock.now() - now;
  for (const [ms, act] of scenario.acts) {
    await node.clock.advance(ms - now);
    now = ms;
    await act(hands);
  }
  await node.clock.advance(Math.max(scenario.untilMs, scenario.settledMs ?? 0) - now);
  const errors = node.errors.filter((error) => !scenario.fails?.test(error));
  if (errors.length > 0) throw new Error(errors.join('\n'));
  return sent.map(({ ms, ...request }) => ({ ms: ms - zero, ...request })).filter((request) => isOf(scenario, request));
}

async function begin(scenario: Played, firstMs: number) {
  const sent: SentRequest[] = [];
  const made: { cluster?: Cluster; sender?: EventSender; events?: EventSink; network?: Network } = {};
  const node = await simulatedNode({
    config: {
      capacity: CAPACITY,
      allocatable: ALLOCATABLE,
      clusterDns: ['10.96.0.10'],
      admissionNode: { labels: LABELS, taints: [] },
    },
    runtime: { images: { present: [IMAGE, PAUSE] }, ...scenario.runtime },
    fromFiles: true,
    clusterOf: (clock, directory) => {
      const inMemory = cluster(clock);
      const note = (each: KubeTransport) => recording(each, clock, sent);
      const { transport, ...certificates } = scenario.bootstraps
        ? withoutCertificate(inMemory, { clock, directory, note })
        : { transport: note(inMemory.transport) };
      const client = new KubeClient({ transport, clock, userAgent: 'statelet/test' });
      Object.assign(made, eventsTo(client, clock));
      const zero = clock.now() - firstMs;
      const findServer = (_host: string, port: number) => scenario.serverAt?.(port, clock.now() - zero);
      made.network = new SimulatedNetwork({ clock, gate: openGate, findServer });
      const onNodeUid = (uid: string) => made.sender?.setNodeUid(uid);
      made.cluster = { ...inMemory, client, leaseClient: client, host: HOST };
      return { ...made.cluster, ...certificates, onNodeUid };
    },
    parts: {
      events: (event) => made.events?.(event),
      network: laterNetwork(() => made.network),
      mounter: notedMounts(),
    },
  });
  if (made.cluster === undefined) throw new Error('the node has no cluster');
  const { ask, api } = made.cluster;
  if (scenario.bootstraps) await startControllers(api, new Authority(), defaultPolicy());
  for (const name of scenario.namespaces) {
    await ask('POST', '/api/v1/namespaces', { metadata: { name } });
    await ask('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  }
  const { client } = made.cluster;
  const forgetEvents = () => {
    Object.assign(made, eventsTo(client, node.clock));
  };
  return { node, sent, hands: handsOf(node, made.cluster, forgetEvents) };
}

/** Returns a network that is created only once the clock of the node exists. */
const laterNetwork = (network: () => Network | undefined): Network => {
  const present = (): Network => {
    const made = network();
    if (made === undefined) throw new Error('there is no network yet');
    return made;
  };
  return {
    connect: (...call) => present().connect(...call),
    checkHealth: (...call) => present().checkHealth(...call),
    fetch: (...call) => present().fetch(...call),
  };
};

function handsOf(node: SimulatedNode, inMemory: Cluster, forgetEvents: () => void): Hands {
  const { ask } = inMemory;
  const path = (pod: string) => `/api/v1/namespaces/${pod.replace('/', '/pods/')}`;
  return {
    node,
    cluster: inMemory,
    ask,
    path,
    create: async (pod, spec, metadata = {}) => {
      const [namespace, name] = pod.split('/');
      const body = { metadata: { name, ...metadata }, spec: { automountServiceAccountToken: false, ...spec } };
      await ask('POST', `/api/v1/namespaces/${namespace}/pods`, body);
      if ('nodeName' in spec) return;
      await ask('POST', `${path(pod)}/binding`, { metadata: { name }, target: { kind: 'Node', name: 'node-1' } });
    },
    remove: async (pod, body) => {
      await ask('DELETE', path(pod), body);
    },
    manifest: async (name, pod) => {
      const file = join(node.manifestDir, `${name}.json`);
      if (pod === undefined) await rm(file);
      else await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod }));
    },
    kill: () => node.killAgent(),
    start: async () => {
      forgetEvents();
      await node.startAgent();
    },
    sayAtEnd: async (pod, container, words) => {
      const { metadata } = await ask('GET', path(pod));
      // Every object has metadata.
      const { uid } = metadata as { readonly uid: string };
      await writeFile(node.path('root', 'pods', uid, 'containers', container, '0'), words);
    },
  };
}

/** Records the requests that pass through a transport. */
function recording(transport: KubeTransport, clock: SimulatedClock, sent: SentRequest[]): KubeTransport {
  return {
    close: () => transport.close(),
    reset: () => transport.reset(),
    send: async (request, options) => {
      const { method, path, body, isWatch = false } = request;
      const read = body === undefined || body === '' ? undefined : JSON.parse(body);
      const recorded = { ms: clock.now(), verb: isWatch ? 'WATCH' : method, ...placeOf(path), body: read };
      const index = sent.push(recorded) - 1;
      const answer = await transport.send(request, options);
      sent[index] = { ...recorded, code: answer.code };
      return answer;
    },
  };
}

/** Creates the recorder and the sender of the node's events. */
function eventsTo(
  client: KubeClient,
  clock: SimulatedClock,
): { readonly sender: EventSender; readonly events: EventSink } {
  const recorder = createEventRecorder('node-1', () => clock.now());
  const { signal } = new AbortController();
  const parts = {
    client,
    clock,
    jitter: () => 0.5,
    hasQueuedStarts: () => false,
    onState: () => {},
    onError: () => {},
  };
  const sender = new EventSender({ ...parts, signal });
  recorder.subscribe(({ event, removed }) => {
    if (!removed) sender.send(event);
  });
  return { sender, events: recorder.record };
}
