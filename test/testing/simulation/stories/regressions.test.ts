import { expect, test } from '@jest/globals';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import {
  container,
  type ManifestContainer,
  type ManifestSpec,
  manifest,
} from '../../../../testing/simulation/stories/manifests.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import type { Story, TimedAction } from '../../../../testing/simulation/stories/story.ts';

const SECOND = 1_000;
const told = (...actions: TimedAction[]): Story => ({ seed: 1, faults: [], lastsMs: 90 * SECOND, actions });

const withSetup = manifest('web', {
  initContainers: [container('setup', { command: ['sh', '-c', 'sleep 1'] })],
  containers: [container('main')],
});
const crashing = manifest('web', { containers: [container('main', { command: ['sh', '-c', 'sleep 3; exit 1'] })] });
const restartPolicyRules = [
  { action: 'RestartAllContainers' as const, exitCodes: { operator: 'In' as const, values: [1] } },
];
const restartingAll = manifest('web', {
  restartPolicy: 'OnFailure',
  containers: [
    container('main', { command: ['sh', '-c', 'exit 0'] }),
    container('helper', { command: ['sh', '-c', 'sleep 3; exit 1'], restartPolicy: 'Never', restartPolicyRules }),
  ],
});
const onceUnlessOfRule = manifest('web', {
  containers: [container('main', { restartPolicy: 'Never', restartPolicyRules })],
});
const endsWell = manifest('web', {
  restartPolicy: 'OnFailure',
  containers: [container('main'), container('helper', { command: ['sh', '-c', 'exit 0'] })],
});
const stubbornlyRestarting = manifest('web', {
  containers: [
    container('main', { restartPolicy: 'Never', restartPolicyRules }),
    container('helper', { command: ['sh', '-c', 'trap "" TERM; sleep 1d'] }),
  ],
});
const onFailure = { ...withSetup, spec: { ...withSetup.spec, restartPolicy: 'OnFailure' as const } };
const exitsWell = manifest('web', {
  restartPolicy: 'OnFailure',
  containers: [
    container('main', {
      command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1d'],
      livenessProbe: { exec: { command: ['false'] }, periodSeconds: 2, failureThreshold: 2 },
    }),
  ],
});
const startupProbe = { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 2 };
const neverUp = manifest('web', {
  initContainers: [container('proxy', { restartPolicy: 'Always', startupProbe })],
});
const slowly = { postStart: { exec: { command: ['sh', '-c', 'sleep 8'] } } };
/** Its main container has its image long before it may start. */
const pulled = manifest('web', {
  containers: [container('helper', { lifecycle: slowly }), container('main', { image: 'registry.local/pulled:1' })],
});
const STUBBORN = ['sh', '-c', 'trap "" TERM; sleep 1d'];
/** One that does not end before its time. */
const endingIn = (name: string, terminationGracePeriodSeconds: number) =>
  manifest(name, { terminationGracePeriodSeconds, containers: [container('main', { command: STUBBORN })] });
const stubborn = endingIn('web', 10);
const withOwnUid = (main: Partial<ManifestContainer>, more: Partial<ManifestSpec> = {}) => {
  const { metadata, ...rest } = manifest('web', { ...more, containers: [container('main', main)] });
  return { ...rest, metadata: { ...metadata, uid: '00000000-0000-4000-8000-000000000001' } };
};
const slowlyStubborn = manifest('web', {
  terminationGracePeriodSeconds: 10,
  containers: [
    container('main', {
      command: ['sh', '-c', 'trap "" TERM; sleep 1d'],
      lifecycle: { preStop: { sleep: { seconds: 4 } } },
    }),
  ],
});
const amounts = { cpu: '100m', memory: '16Mi' };
const burstable = withOwnUid({ resources: { requests: amounts } });
const guaranteed = withOwnUid({ resources: { requests: amounts, limits: amounts } });
const PULLED = 'registry.local/pulled:1';
const withImageVolume = manifest('web', {
  volumes: [{ name: 'files', image: { reference: PULLED } }],
  containers: [container('main', { volumeMounts: [{ name: 'files', mountPath: '/files' }] })],
});
const otherImage = manifest('web', { containers: [container('main', { image: 'registry.local/other:1' })] });

/** What drawn stories have broken, as short as it can be told. */
const kept: Readonly<Record<string, Story>> = {
  'C3: init containers run again in the sandbox that a pod gets after the power was gone': told(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 20 * SECOND, action: { kind: 'powerCut', downMs: SECOND } },
  ),
  'C3: init containers run again where the sandbox died while no agent lived': told(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 5 * SECOND } },
    { at: 21 * SECOND, action: { kind: 'killSandbox', which: 0 } },
  ),
  'C3: while init containers run again an API server hears nothing that it would refuse': told(
    { at: 0, action: { kind: 'apply', pod: onFailure } },
    { at: 20 * SECOND, action: { kind: 'killSandbox', which: 0 } },
    { at: 60 * SECOND, action: { kind: 'killAgent', downMs: 5 * SECOND } },
    { at: 61 * SECOND, action: { kind: 'killSandbox', which: 0 } },
  ),
  'what is started of a version that its URL does not list any more may end when that is heard of': told(
    { at: 0, action: { kind: 'apply', pod: withOwnUid({}), by: 'url' } },
    { at: 41 * SECOND, action: { kind: 'apply', pod: withOwnUid({ image: 'registry.local/other:1' }), by: 'url' } },
    { at: 42 * SECOND, action: { kind: 'runtimeDown', downMs: 0, keepContainers: false } },
  ),
  'what runs is adopted although the runtime has found an older run again that has a higher number': told(
    { at: 0, action: { kind: 'apply', pod: withOwnUid({}) } },
    { at: 8 * SECOND, action: { kind: 'killSandbox', which: 0 } },
    { at: 14 * SECOND, action: { kind: 'killSandbox', which: 1 } },
    { at: 20 * SECOND, action: { kind: 'runtimeDown', downMs: 0, keepContainers: false, forgets: 1 } },
    { at: 20.1 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    { at: 40 * SECOND, action: { kind: 'apply', pod: withOwnUid({}) } },
    { at: 50 * SECOND, action: { kind: 'runtimeDown', downMs: 0, keepContainers: false, recalls: true } },
    { at: 60 * SECOND, action: { kind: 'killAgent', downMs: 100 } },
  ),
  'of a pod that has ended with its node nothing more is told, although an old list shows it once more': told(
    { at: 0, action: { kind: 'apply', pod: endingIn('slow', 30) } },
    { at: 0, action: { kind: 'apply', pod: endingIn('quick', 1) } },
    { at: 20 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: 0 } },
    { at: 22.01 * SECOND, action: { kind: 'lists', show: 'stale', forMs: 15 * SECOND } },
  ),
  'C24: a pod whose restarts are counted after a restart of the agent keeps its name from another': told(
    { at: 0, action: { kind: 'apply', pod: pulled } },
    { at: 3 * SECOND, action: { kind: 'copyManifest', pod: 'default/web-node-1', file: 'other.json' } },
    { at: 5 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'C23: restarts are counted of a container whose last sandbox is gone, and an earlier one is not': told(
    { at: 0, action: { kind: 'apply', pod: crashing } },
    { at: 12 * SECOND, action: { kind: 'killSandbox', which: 0 } },
    { at: 27 * SECOND, action: { kind: 'removeSandbox', which: 1 } },
    { at: 27.2 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
  ),
  'a pod has no QoS class while it waits for another of its name, and may be edited meanwhile': told(
    { at: 0, action: { kind: 'apply', pod: stubborn } },
    { at: 10 * SECOND, action: { kind: 'apply', pod: burstable } },
    { at: 12 * SECOND, action: { kind: 'apply', pod: guaranteed } },
    { at: 30 * SECOND, action: { kind: 'killAgent', downMs: 100 } },
  ),
  'a pod whose update was not admitted keeps its QoS class, although the runtime was not ready for the new agent': told(
    { at: 0, action: { kind: 'apply', pod: burstable } },
    { at: 10 * SECOND, action: { kind: 'apply', pod: guaranteed } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
    { at: 20.5 * SECOND, action: { kind: 'runtimeDown', downMs: 5 * SECOND, keepContainers: true } },
  ),
  'nor does it lose it where the runtime is not ready for two agents in turn': told(
    { at: 0, action: { kind: 'apply', pod: burstable } },
    { at: 10 * SECOND, action: { kind: 'apply', pod: guaranteed } },
    { at: 20 * SECOND, action: { kind: 'runtimeDown', downMs: 20 * SECOND, keepContainers: true } },
    { at: 21 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
    { at: 30 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'C5: one that exits well when its probe ends it is not told to have ended for good': told({
    at: 0,
    action: { kind: 'apply', pod: exitsWell },
  }),
  'C23: restarts that only logs tell of are counted before anything is told': told(
    { at: 0, action: { kind: 'apply', pod: crashing } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 10 * SECOND } },
    { at: 22 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
  ),
  'C5: a container that ends at once keeps the number of its restarts when its whole pod restarts in place': told({
    at: 0,
    action: { kind: 'apply', pod: restartingAll },
  }),
  'C10: a pod that is removed while it restarts in place gives its containers no longer than that does': told(
    { at: 0, action: { kind: 'apply', pod: stubbornlyRestarting } },
    { at: 10 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
    { at: 11 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
  ),
  'C10: a stop that failed after a hook gives no longer when it is tried again on a clock that was set back': told(
    { at: 0, action: { kind: 'apply', pod: slowlyStubborn } },
    { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    { at: 13 * SECOND, action: { kind: 'runtimeDown', downMs: 3 * SECOND, keepContainers: true } },
    { at: 14 * SECOND, action: { kind: 'jump', ms: -10 * SECOND } },
  ),
  'a start that outlives the agent that asked for it is no start that was refused: no second container runs beside it':
    {
      ...told(
        { at: 0, action: { kind: 'apply', pod: manifest('web') } },
        { at: 400, action: { kind: 'killAgent', downMs: 0 } },
      ),
      seed: 6,
    },
  'a container that the runtime came back with in a state unknown, just when it had started, is stopped before another':
    {
      ...told(
        { at: 0, action: { kind: 'apply', pod: manifest('web') } },
        { at: 300, action: { kind: 'runtimeDown', downMs: SECOND, keepContainers: true, hasUnknown: true } },
      ),
      seed: 15,
    },
  'restarts are counted on over a clock that was set back': told(
    { at: 0, action: { kind: 'apply', pod: crashing } },
    { at: 20 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    { at: 60 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
  ),
  'an exit of which no event came is found by a list, although the clock was set back meanwhile': told(
    { at: 0, action: { kind: 'apply', pod: manifest('web') } },
    { at: 10 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    { at: 11 * SECOND, action: { kind: 'events', delivery: 'dropped', forMs: 20 * SECOND } },
    { at: 12 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
  ),
  'C17: an image that is gone when its container is created is looked for again, and pulled': told(
    { at: 0, action: { kind: 'apply', pod: pulled } },
    { at: 6 * SECOND, action: { kind: 'loseImage', image: 'registry.local/pulled:1' } },
  ),
  'a sandbox that only a later list shows is adopted with all that runs in it': told(
    { at: 0, action: { kind: 'lists', show: 'stale', forMs: 30 * SECOND } },
    { at: SECOND, action: { kind: 'apply', pod: withSetup } },
    { at: 12 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'no agent can know of a container that an earlier one has started and that no list shows': told(
    {
      at: 0,
      action: {
        kind: 'apply',
        pod: manifest('web', { containers: [container('main', { lifecycle: slowly }), container('helper')] }),
      },
    },
    { at: 4 * SECOND, action: { kind: 'lists', show: 'stale', forMs: 30 * SECOND } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'no agent can tell of a restart that no list shows': told(
    { at: 0, action: { kind: 'apply', pod: manifest('web') } },
    { at: 8 * SECOND, action: { kind: 'lists', show: 'stale', forMs: 15 * SECOND } },
    { at: 9 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
    { at: 14 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'no agent can tell of an end that no list shows': told(
    { at: 0, action: { kind: 'lists', show: 'stale', forMs: 15 * SECOND } },
    { at: 500, action: { kind: 'apply', pod: endsWell } },
    { at: 7 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'a pod may be Pending whose sidecar never gets past its startup probe': told({
    at: 0,
    action: { kind: 'apply', pod: neverUp },
  }),
  'C13: nobody knows how a container ended whose sandbox somebody else removed at once': told(
    { at: 0, action: { kind: 'apply', pod: onceUnlessOfRule } },
    { at: 20 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
    { at: 20 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
  ),
  'the deadline of a pod counts from the start of which another agent tells, also where the clock was set back since':
    told(
      { at: 0, action: { kind: 'noAddresses', forMs: SECOND } },
      { at: 0, action: { kind: 'apply', pod: withOwnUid({}, { activeDeadlineSeconds: 60 }) } },
      { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
      { at: 30 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    ),
  'C24: a pod that waits for its name keeps what the runtime has of its dead containers': {
    ...told(
      { at: 0, action: { kind: 'apply', pod: manifest('web') } },
      { at: 10 * SECOND, action: { kind: 'runtimeDown', downMs: 0, keepContainers: true, forgets: 1 } },
      { at: 40 * SECOND, action: { kind: 'copyManifest', pod: 'default/web-node-1', file: 'a.json' } },
      { at: 60 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: SECOND } },
      { at: 100 * SECOND, action: { kind: 'runtimeDown', downMs: SECOND, keepContainers: false, recalls: true } },
      { at: 130 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
    ),
    lastsMs: 200 * SECOND,
  },
  'C8: a pod whose sandbox was removed before any list had shown it gets another, for what is yet to be made': told(
    { at: 0, action: { kind: 'lists', show: 'stale', forMs: 15 * SECOND } },
    { at: 0, action: { kind: 'registryDown', images: [PULLED], forMs: 20 * SECOND } },
    { at: 0, action: { kind: 'apply', pod: manifest('web', { containers: [container('main', { image: PULLED })] }) } },
    { at: 3 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
  ),
  'C8: a pod whose sandbox was removed before any list had shown it gets another, for what ran in it': told(
    { at: 0, action: { kind: 'lists', show: 'stale', forMs: 20 * SECOND } },
    { at: 0, action: { kind: 'apply', pod: manifest('web') } },
    { at: 12 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
  ),
  'C16: an image is pulled again when its back-off is over, although the clock was set back while its error was shown':
    told(
      { at: 0, action: { kind: 'registryDown', images: [PULLED], forMs: 5 * SECOND } },
      { at: 0, action: { kind: 'apply', pod: withImageVolume } },
      { at: SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    ),
  'an API server hears nothing of a pod that no source wants any more and of which nothing is known': told(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 20 * SECOND } },
    { at: 21 * SECOND, action: { kind: 'apply', pod: otherImage } },
    { at: 22 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
  ),
};

test.each(Object.entries(kept))('%s', async (_, story) => {
  expect((await play(story, { invariants })).violation).toBeUndefined();
});

/** What is answered first, or what a power cut leaves of a disk, is drawn: these are told with several seeds. */
const byChance: Readonly<Record<string, Story>> = {
  'of a pod that is removed during a power cut no directory is left, whatever became of its marks': told(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 10 * SECOND, action: { kind: 'powerCut', downMs: SECOND } },
    { at: 10.5 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
  ),
  'a directory whose removal a power cut undid is removed once more': told(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    { at: 8.3 * SECOND, action: { kind: 'powerCut', downMs: SECOND } },
  ),
  'C23: restarts that only logs tell of are counted of a pod that was shown before the runtime was listed': told(
    { at: 0, action: { kind: 'apply', pod: crashing } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 10 * SECOND } },
    { at: 22 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
    { at: 23 * SECOND, action: { kind: 'networkDown', forMs: 20 * SECOND } },
  ),
};

test.each(Object.entries(byChance))('%s', async (_, story) => {
  for (let seed = 1; seed <= 10; seed += 1) {
    expect({ seed, violation: (await play({ ...story, seed }, { invariants })).violation }).toEqual({ seed });
  }
});
