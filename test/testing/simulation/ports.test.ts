import { expect, test } from '@jest/globals';
import type { ClaimPort } from '../../../actors/claims/claimServices.ts';
import type { ClusterPort } from '../../../actors/cluster/node/clusterNode.ts';
import type { MirrorPort } from '../../../actors/cluster/pods/mirrorPods.ts';
import type { CertificatePorts } from '../../../machines/certificate/ports.ts';
import type { PortName } from '../../../machines/shared/ports.ts';
import { simulatedCpuManager, simulatedMemoryManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { DEVICE_RESOURCE } from '../../../testing/simulation/host/simulatedDevices.ts';
import { DEVICE_PLUGIN_DIR } from '../../../testing/simulation/run/nodeConfig.ts';
import { simulateNode } from '../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../testing/simulation/stories/manifests.ts';
import { planTargetedFaults } from '../../../testing/simulation/stories/variants/targetedFaults.ts';

/** All ports except those of a cluster. A new port has to be simulated, and then listed here. */
const PORTS: Readonly<
  Record<Exclude<PortName, ClaimPort | ClusterPort | MirrorPort | keyof CertificatePorts>, 'asked'>
> = {
  putStatus: 'asked',
  preparePod: 'asked',
  setUpCgroups: 'asked',
  prepareCgroup: 'asked',
  resizePod: 'asked',
  removeCgroup: 'asked',
  removePodData: 'asked',
  mountVolume: 'asked',
  unmountVolume: 'asked',
  runSandbox: 'asked',
  inspectSandbox: 'asked',
  stopSandboxes: 'asked',
  removeSandboxes: 'asked',
  findImage: 'asked',
  pullImage: 'asked',
  prepareDevices: 'asked',
  readObjects: 'asked',
  createContainer: 'asked',
  startContainer: 'asked',
  stopContainer: 'asked',
  removeContainers: 'asked',
  inspectContainer: 'asked',
  removeGarbage: 'asked',
  surveyDisk: 'asked',
  countRestarts: 'asked',
  collectImages: 'asked',
  removeUnusedImages: 'asked',
  rotateLogs: 'asked',
  measureResources: 'asked',
  measurePods: 'asked',
  saveCpus: 'asked',
  saveMemory: 'asked',
  preferDevices: 'asked',
  allocateDevices: 'asked',
  saveDevices: 'asked',
  reconcileCpus: 'asked',
  runHook: 'asked',
  runProbe: 'asked',
  pickTime: 'asked',
  readInhibitDelay: 'asked',
  raiseInhibitDelay: 'asked',
  saveShutdown: 'asked',
  restartRuntime: 'asked',
};

/**
 * The threshold always signals disk pressure, so that unused images are removed and the disk usage of pods is measured.
 */
const eviction = {
  thresholds: [{ signal: 'nodefs.available', value: '1Ti', graceMs: 45_000 }],
  transitionMs: 0,
  maxPodGraceSeconds: 1,
  enforcesStorageLimits: true,
} as const;
/** logind delays a shutdown by only five seconds at first. */
const shutdown = { periods: [{ priority: 0, graceSeconds: 10 }] };
/** A host with four CPUs, of which one is reserved. */
const cpuManager = simulatedCpuManager('laptop');

/** The short back-off soon leads to dead containers that need removal. */
const crashLoop = { baseMs: 1_000, maxMs: 4_000 };

const shell = (script: string) => ['sh', '-c', script];
const exec = (...command: string[]) => ({ exec: { command } });

const busy = manifest('busy', {
  initContainers: [container('setup', { command: shell('exit 0') })],
  containers: [
    container('main', {
      image: 'registry.local/pulled:1',
      livenessProbe: { ...exec('false'), periodSeconds: 5, failureThreshold: 1 },
      readinessProbe: exec('true'),
      lifecycle: { postStart: exec('true'), preStop: exec('true') },
      env: [{ name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color', optional: true } } }],
      volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
    }),
    container('crashing', { command: shell('exit 1') }),
  ],
  volumes: [{ name: 'scratch', emptyDir: { medium: 'Memory' } }],
});

/**
 * Returns a pod that is resized in place when `cpu` changes. A helper that is left out is removed. The readiness probe
 * starts so late that the next agent adopts the container before its first probe.
 */
function sized(cpu: string, ...helpers: readonly string[]) {
  const readinessProbe = { ...exec('true'), initialDelaySeconds: 70 };
  const main = container('main', { resources: { limits: { cpu } }, readinessProbe });
  const pod = manifest('sized', { containers: [main, ...helpers.map((name) => container(name))] });
  return { ...pod, metadata: { ...pod.metadata, uid: 'sized' } };
}

test('every port is called in a simulation, and responds', async () => {
  const lost = { kind: 'fail', code: 'FAILED_PRECONDITION' } as const;
  const faults = planTargetedFaults([{ call: { target: 'runtime', name: 'removePodSandbox' }, fault: lost, times: 4 }]);
  const node = await simulateNode({
    seed: 1,
    records: true,
    config: {
      crashLoop,
      isLenient: true,
      cpuManager,
      devicePluginDir: DEVICE_PLUGIN_DIR,
      memoryManager: simulatedMemoryManager('laptop'),
      eviction,
      shutdown,
    },
    faults,
  });
  const found = new Set<string>();
  const pass = async (seconds: number) => {
    await node.advance(seconds * 1_000);
    for (const { source, kind } of node.recording()?.entries ?? []) if (kind === 'answer') found.add(source);
  };
  node.apply(busy);
  node.apply(sized('100m', 'helper'));
  node.apply(
    manifest('device', { containers: [container('main', { resources: { limits: { [DEVICE_RESOURCE]: '1' } } })] }),
  );
  await pass(30);
  node.apply(sized('200m'));
  await pass(30);
  node.kill();
  await node.startAgent();
  await pass(30);
  node.remove('busy');
  node.remove('sized');
  await pass(60);
  node.perform({ kind: 'shutdown', isCancelled: false });
  await pass(20);
  node.kill();
  expect(Object.keys(PORTS).filter((port) => !found.has(port))).toEqual([]);
});
