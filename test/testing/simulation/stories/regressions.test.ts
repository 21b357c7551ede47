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
const storyOf = (...actions: TimedAction[]): Story => ({ seed: 1, faults: [], lastsMs: 90 * SECOND, actions });

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
/** Returns a pod whose main container has its image long before it may start. */
const pulled = manifest('web', {
  containers: [container('helper', { lifecycle: slowly }), container('main', { image: 'registry.local/pulled:1' })],
});
const STUBBORN = ['sh', '-c', 'trap "" TERM; sleep 1d'];
/** Returns a pod that ignores SIGTERM, so that it runs until its grace period has passed. */
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

/** Shortest forms of stories that random stories have broken. */
const stories: Readonly<Record<string, Story>> = {
  'C3: init containers run again in the sandbox that a pod gets after a power cut': storyOf(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 20 * SECOND, action: { kind: 'powerCut', downMs: SECOND } },
  ),
  'C3: init containers run again if the sandbox died while no agent was running': storyOf(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 5 * SECOND } },
    { at: 21 * SECOND, action: { kind: 'killSandbox', which: 0 } },
  ),
  'C3: while init containers run again, no status is reported that an API server would reject': storyOf(
    { at: 0, action: { kind: 'apply', pod: onFailure } },
    { at: 20 * SECOND, action: { kind: 'killSandbox', which: 0 } },
    { at: 60 * SECOND, action: { kind: 'killAgent', downMs: 5 * SECOND } },
    { at: 61 * SECOND, action: { kind: 'killSandbox', which: 0 } },
  ),
  'a container of a version that its URL no longer lists may stop when the agent reads the new list': storyOf(
    { at: 0, action: { kind: 'apply', pod: withOwnUid({}), by: 'url' } },
    { at: 41 * SECOND, action: { kind: 'apply', pod: withOwnUid({ image: 'registry.local/other:1' }), by: 'url' } },
    { at: 42 * SECOND, action: { kind: 'runtimeDown', downMs: 0, keepContainers: false } },
  ),
  'a running container is adopted although the runtime has recovered an older run with a higher number': storyOf(
    { at: 0, action: { kind: 'apply', pod: withOwnUid({}) } },
    { at: 8 * SECOND, action: { kind: 'killSandbox', which: 0 } },
    { at: 14 * SECOND, action: { kind: 'killSandbox', which: 1 } },
    { at: 20 * SECOND, action: { kind: 'runtimeDown', downMs: 0, keepContainers: false, forgets: 1 } },
    { at: 20.1 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    { at: 40 * SECOND, action: { kind: 'apply', pod: withOwnUid({}) } },
    { at: 50 * SECOND, action: { kind: 'runtimeDown', downMs: 0, keepContainers: false, recalls: true } },
    { at: 60 * SECOND, action: { kind: 'killAgent', downMs: 100 } },
  ),
  'nothing more is reported about a pod that terminated with its node, although an outdated list shows it again':
    storyOf(
      { at: 0, action: { kind: 'apply', pod: endingIn('slow', 30) } },
      { at: 0, action: { kind: 'apply', pod: endingIn('quick', 1) } },
      { at: 20 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: 0 } },
      { at: 22.01 * SECOND, action: { kind: 'lists', show: 'stale', forMs: 15 * SECOND } },
    ),
  'C24: a pod whose restarts are being counted after a restart of the agent blocks other pods with its name': storyOf(
    { at: 0, action: { kind: 'apply', pod: pulled } },
    { at: 3 * SECOND, action: { kind: 'copyManifest', pod: 'default/web-node-1', file: 'other.json' } },
    { at: 5 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'C23: restarts are counted for a container whose last sandbox was removed while an earlier one still exists': storyOf(
    { at: 0, action: { kind: 'apply', pod: crashing } },
    { at: 12 * SECOND, action: { kind: 'killSandbox', which: 0 } },
    { at: 27 * SECOND, action: { kind: 'removeSandbox', which: 1 } },
    { at: 27.2 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
  ),
  'a pod has no QoS class while it waits for a pod with the same name, and may be edited meanwhile': storyOf(
    { at: 0, action: { kind: 'apply', pod: stubborn } },
    { at: 10 * SECOND, action: { kind: 'apply', pod: burstable } },
    { at: 12 * SECOND, action: { kind: 'apply', pod: guaranteed } },
    { at: 30 * SECOND, action: { kind: 'killAgent', downMs: 100 } },
  ),
  'a pod whose update was not admitted keeps its QoS class, although the runtime was not ready for the new agent':
    storyOf(
      { at: 0, action: { kind: 'apply', pod: burstable } },
      { at: 10 * SECOND, action: { kind: 'apply', pod: guaranteed } },
      { at: 20 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
      { at: 20.5 * SECOND, action: { kind: 'runtimeDown', downMs: 5 * SECOND, keepContainers: true } },
    ),
  'a pod whose update was not admitted keeps its QoS class, although the runtime was ready for neither of two new agents':
    storyOf(
      { at: 0, action: { kind: 'apply', pod: burstable } },
      { at: 10 * SECOND, action: { kind: 'apply', pod: guaranteed } },
      { at: 20 * SECOND, action: { kind: 'runtimeDown', downMs: 20 * SECOND, keepContainers: true } },
      { at: 21 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
      { at: 30 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
    ),
  'C5: a container that exits with code 0 when its probe stops it is not reported as completed': storyOf({
    at: 0,
    action: { kind: 'apply', pod: exitsWell },
  }),
  'C23: restarts that only the logs show are counted before any status is reported': storyOf(
    { at: 0, action: { kind: 'apply', pod: crashing } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 10 * SECOND } },
    { at: 22 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
  ),
  'C5: a container that exits immediately keeps its restart count when its whole pod restarts in place': storyOf({
    at: 0,
    action: { kind: 'apply', pod: restartingAll },
  }),
  'C10: a pod that is removed while it restarts in place does not extend the grace period of its containers': storyOf(
    { at: 0, action: { kind: 'apply', pod: stubbornlyRestarting } },
    { at: 10 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
    { at: 11 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
  ),
  'C10: a stop that failed after a hook does not extend the grace period when it is retried after the clock was set back':
    storyOf(
      { at: 0, action: { kind: 'apply', pod: slowlyStubborn } },
      { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
      { at: 13 * SECOND, action: { kind: 'runtimeDown', downMs: 3 * SECOND, keepContainers: true } },
      { at: 14 * SECOND, action: { kind: 'jump', ms: -10 * SECOND } },
    ),
  'a start that completes after its agent has died does not count as failed, so no second container runs beside it': {
    ...storyOf(
      { at: 0, action: { kind: 'apply', pod: manifest('web') } },
      { at: 400, action: { kind: 'killAgent', downMs: 0 } },
    ),
    seed: 6,
  },
  'a container that has just started and is in an unknown state after a runtime restart is stopped before the next starts':
    {
      ...storyOf(
        { at: 0, action: { kind: 'apply', pod: manifest('web') } },
        { at: 300, action: { kind: 'runtimeDown', downMs: SECOND, keepContainers: true, hasUnknown: true } },
      ),
      seed: 15,
    },
  'the restart count continues after the clock was set back': storyOf(
    { at: 0, action: { kind: 'apply', pod: crashing } },
    { at: 20 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    { at: 60 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
  ),
  'an exit without an event is detected by a list, although the clock was set back meanwhile': storyOf(
    { at: 0, action: { kind: 'apply', pod: manifest('web') } },
    { at: 10 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    { at: 11 * SECOND, action: { kind: 'events', delivery: 'dropped', forMs: 20 * SECOND } },
    { at: 12 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
  ),
  'C17: an image that is missing when its container is created is looked up again and pulled': storyOf(
    { at: 0, action: { kind: 'apply', pod: pulled } },
    { at: 6 * SECOND, action: { kind: 'loseImage', image: 'registry.local/pulled:1' } },
  ),
  'a sandbox that only a later list shows is adopted with its running containers': storyOf(
    { at: 0, action: { kind: 'lists', show: 'stale', forMs: 30 * SECOND } },
    { at: SECOND, action: { kind: 'apply', pod: withSetup } },
    { at: 12 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'no agent can know a container that an earlier agent started and that no list shows': storyOf(
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
  'no agent can report a restart that no list shows': storyOf(
    { at: 0, action: { kind: 'apply', pod: manifest('web') } },
    { at: 8 * SECOND, action: { kind: 'lists', show: 'stale', forMs: 15 * SECOND } },
    { at: 9 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
    { at: 14 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'no agent can report an exit that no list shows': storyOf(
    { at: 0, action: { kind: 'lists', show: 'stale', forMs: 15 * SECOND } },
    { at: 500, action: { kind: 'apply', pod: endsWell } },
    { at: 7 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ),
  'a pod whose sidecar never passes its startup probe may stay Pending': storyOf({
    at: 0,
    action: { kind: 'apply', pod: neverUp },
  }),
  'C13: the exit code of a container whose sandbox others removed at once is unknown': storyOf(
    { at: 0, action: { kind: 'apply', pod: onceUnlessOfRule } },
    { at: 20 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
    { at: 20 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
  ),
  'the deadline of a pod counts from the start time that a new agent reports, even if the clock was set back since':
    storyOf(
      { at: 0, action: { kind: 'noAddresses', forMs: SECOND } },
      { at: 0, action: { kind: 'apply', pod: withOwnUid({}, { activeDeadlineSeconds: 60 }) } },
      { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
      { at: 30 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    ),
  'C24: a pod that waits for its name keeps its dead containers in the runtime': {
    ...storyOf(
      { at: 0, action: { kind: 'apply', pod: manifest('web') } },
      { at: 10 * SECOND, action: { kind: 'runtimeDown', downMs: 0, keepContainers: true, forgets: 1 } },
      { at: 40 * SECOND, action: { kind: 'copyManifest', pod: 'default/web-node-1', file: 'a.json' } },
      { at: 60 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: SECOND } },
      { at: 100 * SECOND, action: { kind: 'runtimeDown', downMs: SECOND, keepContainers: false, recalls: true } },
      { at: 130 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
    ),
    lastsMs: 200 * SECOND,
  },
  'C8: a pod whose sandbox was removed before any list showed it gets a new one for containers not created yet':
    storyOf(
      { at: 0, action: { kind: 'lists', show: 'stale', forMs: 15 * SECOND } },
      { at: 0, action: { kind: 'registryDown', images: [PULLED], forMs: 20 * SECOND } },
      {
        at: 0,
        action: { kind: 'apply', pod: manifest('web', { containers: [container('main', { image: PULLED })] }) },
      },
      { at: 3 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
    ),
  'C8: a pod whose sandbox was removed before any list showed it gets a new one for the containers that ran in it':
    storyOf(
      { at: 0, action: { kind: 'lists', show: 'stale', forMs: 20 * SECOND } },
      { at: 0, action: { kind: 'apply', pod: manifest('web') } },
      { at: 12 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
    ),
  'C16: an image is pulled again after its back-off, although the clock was set back while its error was reported':
    storyOf(
      { at: 0, action: { kind: 'registryDown', images: [PULLED], forMs: 5 * SECOND } },
      { at: 0, action: { kind: 'apply', pod: withImageVolume } },
      { at: SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    ),
  'nothing is reported about a pod that no source has any more and about which nothing is known': storyOf(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 20 * SECOND } },
    { at: 21 * SECOND, action: { kind: 'apply', pod: otherImage } },
    { at: 22 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
  ),
};

test.each(Object.entries(stories))('%s', async (_, story) => {
  expect((await play(story, { invariants })).violation).toBeUndefined();
});

/**
 * The order of responses, or what a power cut leaves on a disk, depends on the seed, so these stories are played with
 * several seeds.
 */
const byChance: Readonly<Record<string, Story>> = {
  'no directory of a pod that is removed during a power cut is left, whether or not its marks survived': storyOf(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 10 * SECOND, action: { kind: 'powerCut', downMs: SECOND } },
    { at: 10.5 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
  ),
  'a directory whose removal was undone by a power cut is removed again': storyOf(
    { at: 0, action: { kind: 'apply', pod: withSetup } },
    { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    { at: 8.3 * SECOND, action: { kind: 'powerCut', downMs: SECOND } },
  ),
  'C23: restarts that only the logs show are counted for a pod that was published before the runtime was listed':
    storyOf(
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
