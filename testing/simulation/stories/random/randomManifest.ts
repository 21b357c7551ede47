/**
 * Generates random pods with all features that need no host port, no user namespace and no API server. Some pods
 * request more than the node has, and some always fail.
 */

import { PRIVATE_IMAGE, RUNTIME_CLASS } from '../../host/providedFiles.ts';
import { GRPC_PORTS, HEALTHY_PORTS, SECURE_PORTS, UNHEALTHY_PORTS } from '../../host/servers.ts';
import type { Random } from '../../random.ts';
import { container, type Manifest, type ManifestContainer, manifest } from '../manifests.ts';

const shell = (script: string) => ['sh', '-c', script];

/** Commands of main processes. The empty command runs until it is stopped. */
const COMMANDS: readonly (readonly string[])[] = [
  [],
  [],
  [],
  shell('sleep 30'),
  shell('sleep 3; exit 1'),
  shell('exit 0'),
  shell('trap "" TERM; sleep 1d'),
  shell('trap "sleep 8; exit 0" TERM; sleep 1d'),
];

/** Images that have to be pulled. The last one is pulled every time, because it has no tag. */
export const PULLED = ['registry.local/pulled:1', 'registry.local/pulled:2', 'registry.local/pulled'] as const;

const LONG = 'x'.repeat(63);
/** Names that are valid but unusual. */
export const ODD_NAMES = ['constructor', 'a.b-c.d', LONG, '0', 'node-1'] as const;

/** One volume of every kind that needs no other object. */
const VOLUMES: readonly object[] = [
  { emptyDir: {} },
  { image: { reference: PULLED[0], pullPolicy: 'IfNotPresent' } },
  { emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
  { hostPath: { path: '/simulated/host', type: 'DirectoryOrCreate' } },
  { hostPath: { path: '/etc/hosts', type: 'File' } },
  { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
  {
    projected: {
      sources: [{ downwardAPI: { items: [{ path: 'a/name', fieldRef: { fieldPath: 'metadata.name' } }] } }],
    },
  },
];

const DEADLINES = [1, 2, 5, 20, 60] as const;
/** Pods with a priority can preempt others. */
const PRIORITIES = [0, 1_000, 2_000_000_000] as const;

const ENV = [
  { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
];

/** An exit with code 1 restarts all containers of the pod in place. */
const RESTARTS_ALL = {
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
};

const execOf = (random: Random, isHealthy: boolean) =>
  isHealthy ? ['true'] : random.pick([['false'], ['sleep', '20'], shell('sleep 1; exit 1')]);

/**
 * Generates the handler of a probe or a hook. An unhealthy handler may fail, hang, break the connection, or use TLS to
 * connect to a server without TLS.
 */
function handler(random: Random, isHealthy: boolean): object {
  const port = isHealthy ? random.pick(HEALTHY_PORTS) : random.pick(UNHEALTHY_PORTS);
  const secure = isHealthy ? SECURE_PORTS[0] : random.pick([SECURE_PORTS[1], ...HEALTHY_PORTS]);
  const kinds: readonly object[] = [
    { exec: { command: execOf(random, isHealthy) } },
    { httpGet: { path: '/healthz?full', port } },
    { httpGet: { scheme: 'HTTPS', path: '/healthz', port: secure } },
    { tcpSocket: { port } },
  ];
  return random.pick(kinds);
}

function probe(random: Random, more: object = {}): object {
  const isHealthy = random.chance(0.6);
  const grpc = { grpc: { port: isHealthy ? GRPC_PORTS[0] : random.pick(GRPC_PORTS) } };
  const timing = { periodSeconds: random.pick([1, 2, 10]), failureThreshold: random.pick([1, 3]) };
  return { ...(random.chance(0.2) ? grpc : handler(random, isHealthy)), ...timing, ...more };
}

const SLEEP_SECONDS = 2;

const sleepsBeforeStop = ({ lifecycle: hooks }: ManifestContainer): boolean =>
  hooks?.preStop !== undefined && 'sleep' in hooks.preStop;

function lifecycle(random: Random): { postStart?: object; preStop?: object } {
  const preStop = random.chance(0.3) ? { sleep: { seconds: SLEEP_SECONDS } } : handler(random, random.chance(0.6));
  return {
    ...(random.chance(0.4) ? { postStart: handler(random, random.chance(0.7)) } : {}),
    ...(random.chance(0.6) ? { preStop } : {}),
  };
}

/** Large requests are rare, because only a few such pods fit on the node. */
function randomResources(random: Random): object {
  const cpu = random.chance(0.15) ? '40' : `${random.between(1, 5) * 100}m`;
  const memory = `${random.between(1, 4) * 16}Mi`;
  const requests = random.chance(0.5) ? { cpu, memory } : { cpu };
  return random.chance(0.4) ? { requests, limits: { cpu, memory } } : { requests };
}

function probes(random: Random): Partial<ManifestContainer> {
  return {
    ...(random.chance(0.25) ? { readinessProbe: probe(random) } : {}),
    ...(random.chance(0.2) ? { livenessProbe: probe(random, { initialDelaySeconds: random.between(0, 5) }) } : {}),
    ...(random.chance(0.1) ? { startupProbe: probe(random, { failureThreshold: 5 }) } : {}),
    ...(random.chance(0.2) ? { lifecycle: lifecycle(random) } : {}),
  };
}

/**
 * Generates the probes of a sidecar. The startup probe always passes eventually, because otherwise the pod would never
 * start.
 */
function sidecarProbes(random: Random): Partial<ManifestContainer> {
  const { startupProbe: _, lifecycle: hooks, ...rest } = probes(random);
  const timing = { initialDelaySeconds: random.between(0, 5), periodSeconds: 2, failureThreshold: 5 };
  const startupProbe = random.chance(0.4) ? { ...handler(random, true), ...timing } : undefined;
  const postStart = hooks?.postStart === undefined ? {} : { postStart: handler(random, true) };
  const preStop = hooks?.preStop === undefined ? {} : { preStop: hooks.preStop };
  return {
    ...rest,
    ...(startupProbe ? { startupProbe } : {}),
    ...(hooks ? { lifecycle: { ...postStart, ...preStop } } : {}),
  };
}

/** Generates an image. Only the image that is already present works with the pull policy Never. */
function randomImage(random: Random): Partial<ManifestContainer> {
  if (random.chance(0.2)) return { image: random.pick([...PULLED, PRIVATE_IMAGE]) };
  return random.chance(0.1) ? { imagePullPolicy: 'Never' } : {};
}

function randomContainer(name: string, random: Random, volumeMounts: readonly object[]): ManifestContainer {
  const command = random.pick(COMMANDS);
  return container(name, {
    ...(volumeMounts.length > 0 ? { volumeMounts } : {}),
    ...(command.length > 0 ? { command } : {}),
    ...randomImage(random),
    ...(random.chance(0.4) ? { resources: randomResources(random) } : {}),
    ...(random.chance(0.2) ? { env: ENV } : {}),
    ...(random.chance(0.1) ? RESTARTS_ALL : {}),
    ...(random.chance(0.1) ? { terminationMessagePolicy: 'FallbackToLogsOnError' } : {}),
    ...probes(random),
  });
}

function randomVolumes(random: Random) {
  const sources = VOLUMES.filter(() => random.chance(0.15));
  return {
    volumes: sources.map((source, index) => ({ name: `volume-${index}`, ...source })),
    volumeMounts: sources.map((source, index) => ({
      name: `volume-${index}`,
      mountPath: `/mounted/${index}`,
      ...('emptyDir' in source && random.chance(0.3) ? { subPath: 'part/of/it' } : {}),
    })),
  };
}

export function randomManifest(name: string, random: Random): Manifest {
  const { volumes, volumeMounts } = randomVolumes(random);
  const inits = [
    ...(random.chance(0.3) ? [container('setup', { command: shell('sleep 1'), volumeMounts })] : []),
    ...(random.chance(0.1) ? [container('fails', { command: shell('exit 1') })] : []),
    ...(random.chance(0.15) ? [container('sidecar', { restartPolicy: 'Always', ...sidecarProbes(random) })] : []),
  ];
  const helper = random.chance(0.2) ? random.pick(ODD_NAMES.filter((each) => !each.includes('.'))) : 'helper';
  const names = random.chance(0.3) ? ['main', helper] : ['main'];
  // An init container that always fails must not be restarted, because the pod would never make progress.
  const hasFailingInit = inits.some((each) => each.name === 'fails');
  const hasPriority = random.chance(0.1);
  const containers = names.map((each) => randomContainer(each, random, volumeMounts));
  // A pod is invalid if a preStop hook sleeps for longer than the grace period.
  const hasSleep = [...inits, ...containers].some(sleepsBeforeStop);
  const terminationGracePeriodSeconds = random.pick(hasSleep ? [SLEEP_SECONDS, 5, 30] : [0, 1, 5, 30]);
  const pod = manifest(name, {
    restartPolicy: hasFailingInit ? 'Never' : random.pick(['Always', 'Always', 'OnFailure', 'Never'] as const),
    terminationGracePeriodSeconds,
    containers,
    ...(hasPriority ? { priority: random.pick(PRIORITIES) } : {}),
    ...(inits.length > 0 ? { initContainers: inits } : {}),
    ...(volumes.length > 0 ? { volumes } : {}),
    ...(random.chance(0.1) ? { activeDeadlineSeconds: random.pick(DEADLINES) } : {}),
    ...(random.chance(0.1) ? { hostNetwork: true } : {}),
    ...(random.chance(0.1) ? { securityContext: { fsGroup: 1_000 } } : {}),
    ...(random.chance(0.05) ? { runtimeClassName: RUNTIME_CLASS } : {}),
    ...(random.chance(0.05) ? { shareProcessNamespace: true } : {}),
  });
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { app: name.slice(0, 10), version: `${random.between(1, 3)}` } },
  };
}

/** Returns the pod with a random UID, so that it remains the same pod when its manifest changes. */
export function withUid(pod: Manifest, random: Random): Manifest {
  const digits = Array.from({ length: 12 }, () => random.between(0, 15).toString(16)).join('');
  return { ...pod, metadata: { ...pod.metadata, uid: `00000000-0000-4000-8000-${digits}` } };
}

/** Returns the same pod with changes that the API server allows, i.e. of resources, labels, images and the deadline. */
export function randomChange({ spec, metadata, ...rest }: Manifest, random: Random): Manifest {
  const resized = (each: ManifestContainer) =>
    each.resources === undefined ? each : { ...each, resources: randomResources(random) };
  const containers = spec.containers.map((each) => ({
    ...resized(each),
    // The API server rejects the status of a restarted container in a pod whose restart policy forbids restarts.
    ...(spec.restartPolicy === 'Always' && random.chance(0.2)
      ? { image: random.pick(PULLED), imagePullPolicy: 'IfNotPresent' }
      : {}),
  }));
  const labels = random.chance(0.3) ? { ...metadata.labels, changed: 'yes' } : { ...metadata.labels };
  const deadline = random.chance(0.1) ? { activeDeadlineSeconds: random.pick(DEADLINES) } : {};
  const inits = spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(resized) };
  return { ...rest, metadata: { ...metadata, labels }, spec: { ...spec, containers, ...inits, ...deadline } };
}
