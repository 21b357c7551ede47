/** Short stories, each told again with every fault at every one of its calls. */
import type { Fate } from '../outside.ts';
import { container, manifest } from './manifests.ts';
import type { Story } from './story.ts';

const SECOND = 1_000;
const shell = (script: string) => ['sh', '-c', script];

function withScratch(name: string) {
  const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }];
  return manifest(name, {
    containers: [container('main', { volumeMounts })],
    volumes: [{ name: 'scratch', emptyDir: {} }],
  });
}

const slowToEnd = (name: string) =>
  manifest(name, {
    terminationGracePeriodSeconds: 10,
    containers: [container('main', { command: shell('trap "" TERM; sleep 1d') }), container('helper')],
  });

const ofSize = (name: string, cpu: string) =>
  manifest(name, { containers: [container('main', { resources: { requests: { cpu }, limits: { cpu } } })] });

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

/** What is told of a node of one pod. */
export const shortStories: Readonly<Record<string, Story>> = {
  'a pod comes, runs and goes': {
    ...{ seed: 1, faults: [], lastsMs: 20 * SECOND },
    moments: [
      { at: 0, deed: { kind: 'apply', pod: withScratch('web') } },
      { at: 10 * SECOND, deed: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
  },
  'an agent starts again over a pod that runs': {
    ...{ seed: 2, faults: [], lastsMs: 20 * SECOND },
    moments: [
      { at: 0, deed: { kind: 'apply', pod: withScratch('web') } },
      { at: 8 * SECOND, deed: { kind: 'killAgent', downMs: SECOND } },
    ],
  },
  'a pod is ended that takes its time': {
    ...{ seed: 3, faults: [], lastsMs: 40 * SECOND },
    moments: [
      { at: 0, deed: { kind: 'apply', pod: slowToEnd('slow') } },
      { at: 8 * SECOND, deed: { kind: 'remove', pod: 'default/slow-node-1' } },
    ],
  },
  'a pod is resized': {
    ...{ seed: 4, faults: [], lastsMs: 30 * SECOND },
    moments: [
      { at: 0, deed: { kind: 'apply', pod: ofSize('sized', '100m') } },
      { at: 8 * SECOND, deed: { kind: 'apply', pod: ofSize('sized', '200m') } },
    ],
  },
  'a liveness probe ends a container': {
    ...{ seed: 5, faults: [], lastsMs: 30 * SECOND },
    moments: [{ at: 0, deed: { kind: 'apply', pod: failingProbe('ill') } }],
  },
  'a pod of one run fails, after its init container': {
    ...{ seed: 6, faults: [], lastsMs: 20 * SECOND },
    moments: [{ at: 0, deed: { kind: 'apply', pod: oneRun('once') } }],
  },
};

/** What can become of any call. */
const fates: readonly Fate[] = [
  { kind: 'fail', code: 'EIO' },
  { kind: 'fail', code: 'ENOSPC' },
  { kind: 'lostReply', code: 'EIO' },
  { kind: 'hang' },
  { kind: 'late', ms: 3 * SECOND },
  { kind: 'death', when: 'before' },
  { kind: 'death', when: 'after' },
];

/** The story with each fate at each of so many calls. */
export function* withEveryFault(story: Story, calls: number): Generator<Story> {
  for (let call = 0; call < calls; call += 1) for (const fate of fates) yield { ...story, faults: [{ call, fate }] };
}
