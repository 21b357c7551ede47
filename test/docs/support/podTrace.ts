/** Runs a pod on a node whose parts are all simulated, and records everything that the node does for it. */

import { createAlarm } from '../../../actors/alarm.ts';
import { createNode } from '../../../actors/node/createNode.ts';
import type { NodeParts } from '../../../actors/node/nodeParts.ts';
import { createRedaction } from '../../../actors/replay/redaction.ts';
import type { Network } from '../../../actors/services/http/network.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { SimulatedNetwork } from '../../../actors/simulated/simulatedNetwork.ts';
import { startInlineReader } from '../../../actors/simulated/startInlineReader.ts';
import { createChangeDetector } from '../../../actors/sources/changeDetector.ts';
import { podsOfAgent, SIMULATED_ENDPOINT } from '../../../actors/store/leftOnDisk.ts';
import { cgroupProcesses } from '../../../cri/simulated/cgroupProcesses.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { seededRandom } from '../../../cri/simulated/objects/ids.ts';
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import { createSimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import { openGate } from '../../../host/simulated/gate.ts';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { simulatedCgroups } from '../../../host/simulated/simulatedCgroups.ts';
import { SimulatedLogind } from '../../../host/simulated/simulatedLogind.ts';
import type { Taint } from '../../../kubernetes/admission/node.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { NodeFact } from '../../../machines/shared/events/events.ts';
import { writeFile } from '../../../testing/simulation/host/writeFile.ts';
import type { Mounter } from '../../../volume/mount/mounter.ts';
import { SimulatedMounter } from '../../../volume/simulated/simulatedMounter.ts';
import { cgroupFacts } from '../../fakes/cgroups.ts';
import { FakeObjects, fakeTokens } from '../../fakes/objects.ts';
import { IMAGE } from '../../fakes/pods.ts';
import { createTracedCluster } from './tracedCluster.ts';

/** The priority from which a pod gets less time to terminate when the host shuts down. */
export const HIGH_PRIORITY = 1_000;
/** The container that writes files into its volumes when it starts. */
export const WRITER = 'writer';

const identity = { rootDir: '/root', podLogsDir: '/log/pods', nodeName: 'node-1', runtimeEndpoint: SIMULATED_ENDPOINT };
const rules = { ...cgroupFacts, version: 'v2' as const };
const capacity = { cpuMillis: 8_000, memoryBytes: 2 ** 34, pods: 110 };
const CONFIG = {
  ...identity,
  cgroups: rules,
  capacity,
  hostIps: ['192.0.2.1'],
  clusterDns: ['198.51.100.53'],
  canLowerOomScoreAdj: true,
  // The health of devices would be reported with the names of claims.
  reportsDeviceHealth: false,
  shutdown: {
    periods: [
      { priority: 0, graceSeconds: 20 },
      { priority: HIGH_PRIORITY, graceSeconds: 10 },
    ],
  },
};

/** The times at which a pod is updated and removed and at which the run ends, in milliseconds since the start. */
const TIMES = { update: 8_000, removal: 20_000, end: 55_000 };

interface TraceOptions {
  /** The version of the pod that replaces it during the run. */
  readonly update?: Pod | undefined;
  /** The taints of the node. */
  readonly taints?: readonly Taint[] | undefined;
  /** Whether the pod comes from the API server of a cluster. */
  readonly fromCluster?: boolean | undefined;
  /** Whether the host shuts down instead of the removal of the pod. */
  readonly shutsDown?: boolean | undefined;
}

/**
 * Returns the trace of a pod as sorted lines. Replaces the pod by `update`, if given, and later removes it or shuts down
 * the host.
 */
export async function tracePod(
  pod: Pod,
  { update, taints = [], fromCluster = false, shutsDown = false }: TraceOptions = {},
): Promise<string> {
  const lines: string[] = [];
  const record = (kind: string, value: unknown) => void lines.push(`${kind} ${toText(value)}`);
  const clock = new SimulatedClock();
  const disk = new MemoryDisk(() => clock.now());
  const files = new MemoryFiles(disk);
  for (const directory of ['/first', '/second']) disk.createDirectories(directory);
  const runtime = createSimulatedRuntime({
    clock,
    exec: ({ cmd }) => ({ exitCode: cmd[0] === 'false' ? 1 : 0 }),
    images: { anyPullable: true, present: [IMAGE] },
    features: { userNamespaces: true, supplementalGroupsPolicy: true },
    onEffect: (effect) => writeVariables(disk, effect),
  });
  const logind = new SimulatedLogind();
  const cluster = fromCluster ? createTracedCluster(pod, clock) : undefined;
  const tree = new CgroupTree('v2', cgroupProcesses(runtime));
  const recordCgroups = () => {
    for (const path of tree.paths)
      for (const file of ['cpu.weight', 'cpu.max', 'memory.max']) record(`${path} ${file}`, tree.readFile(path, file));
  };
  let send: (fact: NodeFact) => void = () => {};
  const changes = createChangeDetector('test', clock);
  const publish = (pods: readonly Pod[]) => {
    for (const fact of changes({ pods: [...pods], problems: [], warnings: [] })) send(fact);
  };
  const parts: NodeParts = {
    clock,
    files,
    cri: inProcessCri(runtime),
    jitter: seededRandom(7),
    readImageDisk: async () => runtime.imageDisk(),
    startThread: startInlineReader,
    nextTurn: async () => {},
    redaction: createRedaction(Buffer.alloc(32)),
    network: recordedNetwork(new SimulatedNetwork({ clock, gate: openGate, findServer: () => SERVER }), record),
    mounter: recordedMounter(new SimulatedMounter(disk, openGate), record),
    cgroups: simulatedCgroups(tree, openGate, {
      parentCgroup: { cgroupRoot: '', cgroupDriver: 'cgroupfs' },
      rules,
      enforcedLimits: capacity,
      listOwnPods: () => podsOfAgent(identity, files),
      wait: (ms, signal) => createAlarm(clock, signal).waitUntil(clock.now() + ms),
      onWarning: () => {},
    }),
    objects: recordedObjects(record),
    tokens: {
      get: (target, request, options) => {
        record('token', [target.spec.serviceAccountName, request]);
        return fakeTokens(Number.POSITIVE_INFINITY).get(target, request, options);
      },
    },
    logind: logind.open(),
    ...(cluster?.parts ?? {
      feeds: {
        sources: (sendFact) => {
          send = sendFact;
          publish([pod]);
        },
      },
    }),
    events: ({ at: _, ...event }) => record('event', event),
    onError: () => {},
  };
  const sources = fromCluster ? [] : ['test'];
  const agent = await createNode({ ...CONFIG, sources, admissionNode: { appArmor: true, taints } }, parts);
  const start = clock.now();
  const runUntil = (ms: number) => clock.advance(start + ms - clock.now());
  const recordState = () => {
    for (const { status } of agent.pods()) record('status', status);
    recordTree(files, '/root/pods', record);
    recordCgroups();
  };
  agent.start();
  await runUntil(TIMES.update);
  recordState();
  if (update !== undefined) publish([update]);
  await runUntil(TIMES.removal);
  recordState();
  if (shutsDown) logind.announce(true);
  else if (cluster) await cluster.deletePod();
  else publish([]);
  await runUntil(TIMES.end);
  await agent.stop();
  for (const { call, request } of runtime.calls) if (!UNRELATED_CALLS.test(call)) record(call, request);
  return lines.toSorted().join('\n');
}

/** Writes a file of variables into each volume of the container that starts, with the path of its mount as the value. */
function writeVariables(disk: MemoryDisk, { kind, container }: RuntimeEffect): void {
  if (kind !== 'started' || container?.containerName !== WRITER) return;
  for (const { hostPath, containerPath } of container.mounts)
    if (hostPath.includes('/volumes/')) writeFile(disk, `${hostPath}/first`, `A='${containerPath}'\n`);
}

const SERVER = { respond: () => ({ body: 'well' }), health: () => ({ served: 1 }) };
const UNRELATED_CALLS = /^(list|version|status|runtimeConfig|imageFsInfo)/;

/**
 * Returns a value as text without the hashes of specs, which change with every field, and without the claims that the
 * status of a container repeats, because neither is an effect of a field.
 */
const toText = (value: unknown): string =>
  JSON.stringify(value, (key, each: unknown) => {
    if (/hash/i.test(key) || key === 'claims') return undefined;
    return typeof each === 'bigint' ? String(each) : each;
  });

type RecordValue = (kind: string, value: unknown) => void;

const recordedNetwork = (network: Network, record: RecordValue): Network => ({
  connect: (endpoint, listener) => {
    record('connect', endpoint);
    const connection = network.connect(endpoint, listener);
    const write = (text: string) => {
      record('write', text);
      return connection.write(text);
    };
    return { write, destroy: () => connection.destroy() };
  },
  checkHealth: (target, options) => {
    record('health', [target, options.deadline]);
    return network.checkHealth(target, options);
  },
  fetch: (url, options) => network.fetch(url, options),
});

const recordedMounter = (mounter: Mounter, record: RecordValue): Mounter => ({
  mount: (request) => {
    record('mount', { ...request, signal: undefined });
    return mounter.mount(request);
  },
  setOwnership: (directory, ownership) => {
    record('ownership', [directory, { ...ownership, signal: undefined }]);
    return mounter.setOwnership(directory, ownership);
  },
  unmount: (...call) => mounter.unmount(...call),
  mountAt: (...call) => mounter.mountAt(...call),
  runTasks: (...call) => mounter.runTasks(...call),
  fileTypeOf: (...call) => mounter.fileTypeOf(...call),
  create: (...call) => mounter.create(...call),
});

/** ConfigMaps and Secrets named `first` and `second`. */
function recordedObjects(record: RecordValue): NodeParts['objects'] {
  const objects = new FakeObjects();
  for (const name of ['first', 'second']) {
    objects.put('ConfigMap', name, { data: { a: `A of ${name}`, b: 'B' } });
    objects.put('Secret', name, { data: { a: Buffer.from(`A of ${name}`).toString('base64'), b: 'Qg==' } });
  }
  return {
    get: (pod, kind, name) => {
      record('object', [kind, name]);
      return objects.get(pod, kind, name);
    },
  };
}

function recordTree(files: MemoryFiles, directory: string, record: RecordValue): void {
  if (!files.existsSync(directory)) return;
  for (const name of files.readdirSync(directory)) {
    const path = `${directory}/${name}`;
    const stats = files.lstatSync(path);
    const label = path.replace(/\/\.\.\d[^/]*/, '/..data').replace(/\.statelet-by-.*/, '');
    record(label, [stats?.mode, stats?.gid]);
    if (stats?.isDirectory()) recordTree(files, path, record);
    else if (stats?.isFile()) record(label, String(files.readFileSync(path)));
  }
}
