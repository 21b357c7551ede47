/** Short stories of a node with one pod, which can be repeated with every fault at each call. */
import { container, manifest } from '../manifests.ts';
import type { Story } from '../story.ts';

const SECOND = 1_000;
const shell = (script: string) => ['sh', '-c', script];

function withScratch(name: string) {
  const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }];
  return manifest(name, {
    containers: [container('main', { volumeMounts })],
    volumes: [{ name: 'scratch', emptyDir: {} }],
  });
}

const slowToStop = (name: string) =>
  manifest(name, {
    terminationGracePeriodSeconds: 10,
    containers: [container('main', { command: shell('trap "" TERM; sleep 1d') }), container('helper')],
  });

function withCpu(name: string, cpu: string) {
  const pod = manifest(name, {
    containers: [container('main', { resources: { requests: { cpu }, limits: { cpu } } })],
  });
  return { ...pod, metadata: { ...pod.metadata, uid: `uid-of-${name}` } };
}

function failingProbe(name: string) {
  const livenessProbe = { exec: { command: ['false'] }, periodSeconds: 3, failureThreshold: 2 };
  return manifest(name, { containers: [container('main', { livenessProbe })] });
}

const oneRun = (name: string) =>
  manifest(name, {
    restartPolicy: 'Never',
    initContainers: [container('setup', { command: shell('sleep 1') })],
    containers: [container('main', { command: shell('sleep 2; exit 3') })],
  });

const withDeadline = (name: string) => ({
  ...slowToStop(name),
  spec: { ...slowToStop(name).spec, activeDeadlineSeconds: 5 },
});

/** Stories by title. */
export const shortStories: Readonly<Record<string, Story>> = {
  'a pod comes, runs and goes': {
    seed: 1,
    faults: [],
    lastsMs: 20 * SECOND,
    actions: [
      { at: 0, action: { kind: 'apply', pod: withScratch('web') } },
      { at: 10 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
  },
  'an agent starts again over a pod that runs': {
    seed: 2,
    faults: [],
    lastsMs: 15 * SECOND,
    actions: [
      { at: 0, action: { kind: 'apply', pod: withScratch('web') } },
      { at: 8 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
    ],
  },
  'a pod is ended that takes its time': {
    seed: 3,
    faults: [],
    lastsMs: 25 * SECOND,
    actions: [
      { at: 0, action: { kind: 'apply', pod: slowToStop('slow') } },
      { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/slow-node-1' } },
    ],
  },
  'a pod is resized in place': {
    seed: 4,
    faults: [],
    lastsMs: 15 * SECOND,
    actions: [
      { at: 0, action: { kind: 'apply', pod: withCpu('sized', '100m') } },
      { at: 8 * SECOND, action: { kind: 'apply', pod: withCpu('sized', '200m') } },
    ],
  },
  'a liveness probe ends a container': {
    seed: 5,
    faults: [],
    lastsMs: 15 * SECOND,
    actions: [{ at: 0, action: { kind: 'apply', pod: failingProbe('ill') } }],
  },
  'a pod that was active for too long is taken away as it ends': {
    seed: 7,
    faults: [],
    lastsMs: 25 * SECOND,
    actions: [
      { at: 0, action: { kind: 'apply', pod: withDeadline('late') } },
      { at: 9 * SECOND, action: { kind: 'remove', pod: 'default/late-node-1' } },
    ],
  },
  'a pod of one run fails, after its init container': {
    seed: 6,
    faults: [],
    lastsMs: 12 * SECOND,
    actions: [{ at: 0, action: { kind: 'apply', pod: oneRun('once') } }],
  },
};
