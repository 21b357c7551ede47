import { expect, test } from '@jest/globals';
import { PATHS } from '../../../../testing/simulation/host/host.ts';
import type { Invariant } from '../../../../testing/simulation/invariants/invariant.ts';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { container, type ManifestSpec, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import type { TimedAction } from '../../../../testing/simulation/stories/story.ts';
import {
  planTargetedFaults,
  type TargetedFault,
} from '../../../../testing/simulation/stories/variants/targetedFaults.ts';

const SECOND = 1_000;
const stubborn = ['sh', '-c', 'trap "" TERM; sleep 1d'];
const amounts = { cpu: '100m', memory: '16Mi' };
const once = (uid: number) => {
  const { metadata, ...rest } = manifest('once', {
    restartPolicy: 'Never',
    containers: [container('main', { command: ['sh', '-c', 'exit 0'] })],
  });
  return { ...rest, metadata: { ...metadata, uid: `00000000-0000-4000-8000-00000000000${uid}` } };
};
const web = (resources: object, spec: Partial<ManifestSpec> = {}) => {
  const main = container('main', { command: stubborn, resources });
  const { metadata, ...rest } = manifest('web', { ...spec, containers: [main] });
  return { ...rest, metadata: { ...metadata, uid: '00000000-0000-4000-8000-000000000001' } };
};
const livenessProbe = { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 15 };
const ill = manifest('ill', { containers: [container('main', { livenessProbe })] });
const imageless = manifest('imageless', {
  activeDeadlineSeconds: 5,
  containers: [container('main', { imagePullPolicy: 'Never', image: 'registry.local/absent:1' })],
});

/** Stories in which the reported status of a pod, or its remaining grace period, once appeared to go back. */
const stories: Readonly<Record<string, readonly TimedAction[]>> = {
  'C10: a removal after the clock was set back does not extend the grace period of a pod that has exceeded its deadline':
    [
      { at: 0, action: { kind: 'apply', pod: web({}) } },
      { at: 2.6 * SECOND, action: { kind: 'apply', pod: web({}, { activeDeadlineSeconds: 1 }) } },
      { at: 2.8 * SECOND, action: { kind: 'jump', ms: -10 * SECOND } },
      { at: 2.9 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
  'C10: a pod whose deadline had already passed when it was set gets its full grace period': [
    { at: 0, action: { kind: 'apply', pod: web({}) } },
    { at: 20 * SECOND, action: { kind: 'apply', pod: web({}, { activeDeadlineSeconds: 1 }) } },
  ],
  'C10: a pod that exceeds its deadline after the clock was set back gets no more than its grace period': [
    { at: 0, action: { kind: 'apply', pod: web({}, { activeDeadlineSeconds: 20 }) } },
    { at: 10 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
  ],
  'C23: the logs of a container in a terminating pod are not read if the runtime has an earlier run': [
    { at: 0, action: { kind: 'apply', pod: web({}) } },
    { at: 10 * SECOND, action: { kind: 'killSandbox', which: 0 } },
    { at: 20 * SECOND, action: { kind: 'stall', forMs: 30 * SECOND } },
    { at: 22 * SECOND, action: { kind: 'removeSandbox', which: 1 } },
    { at: 23 * SECOND, action: { kind: 'killAgent', downMs: 5 * SECOND } },
    { at: 45 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: SECOND } },
  ],
  'the last termination state is reported until the next run has terminated': [
    { at: 0, action: { kind: 'apply', pod: ill } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ],
  'C13: a container that was reported as terminated without having run stays terminated while its pod is removed': [
    { at: 0, action: { kind: 'apply', pod: imageless } },
    { at: 20 * SECOND, action: { kind: 'remove', pod: 'default/imageless-node-1' } },
  ],
  'the next agent does not know which version of a pod ran if it could not be saved': [
    { at: 0, action: { kind: 'disk', fault: 'readOnly', forMs: 15 * SECOND } },
    { at: 2 * SECOND, action: { kind: 'apply', pod: web({ requests: amounts }) } },
    { at: 10 * SECOND, action: { kind: 'killAgent', downMs: 10 * SECOND } },
    { at: 12 * SECOND, action: { kind: 'apply', pod: web({ requests: amounts, limits: amounts }) } },
  ],
};

/** Returns the seconds after which a pod is reported to have exceeded its deadline, on the monotonic clock. */
async function exceededAfter(
  activeDeadlineSeconds: number,
  actions: readonly TimedAction[],
): Promise<number | undefined> {
  let seconds: number | undefined;
  const noted: Invariant = {
    number: 1,
    description: 'When the deadline was exceeded is noted.',
    follow: ({ host }) => ({
      onEvent: ({ reason }) => {
        if (reason === 'DeadlineExceeded') seconds ??= Math.floor(host.clock.elapsed / SECOND);
      },
    }),
  };
  const apply: TimedAction = { at: 0, action: { kind: 'apply', pod: web({}, { activeDeadlineSeconds }) } };
  const story = { seed: 1, faults: [], lastsMs: 700 * SECOND, actions: [apply, ...actions] };
  const { violation } = await play(story, { invariants: [...invariants, noted] });
  expect(violation).toBeUndefined();
  return seconds;
}

test('a pod is active until the wall clock shows that its deadline has passed, however the clock was set meanwhile', async () => {
  const ahead: TimedAction = { at: 20 * SECOND, action: { kind: 'jump', ms: 600 * SECOND } };
  const back: TimedAction = { at: 40 * SECOND, action: { kind: 'jump', ms: -600 * SECOND } };
  expect(await exceededAfter(650, [ahead])).toBe(50);
  expect(await exceededAfter(550, [ahead])).toBe(20);
  // A new agent starts while the wall clock is ahead.
  const killed: TimedAction = { at: 15 * SECOND, action: { kind: 'killAgent', downMs: 10 * SECOND } };
  expect(await exceededAfter(650, [killed, ahead, back])).toBe(650);
});

test.each(Object.entries(stories))('%s', async (_, actions) => {
  const story = { seed: 1, faults: [], lastsMs: 90 * SECOND, actions };
  expect((await play(story, { invariants })).violation).toBeUndefined();
});

/** Further stories of this kind, with faults. */
const storiesWithFaults: Readonly<
  Record<string, { readonly actions: readonly TimedAction[]; readonly targetedFaults: readonly TargetedFault[] }>
> = {
  'a pod for which the next agent reported only the terminal status starts again if it is created again': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: once(1) } },
      { at: SECOND, action: { kind: 'apply', pod: once(2) } },
      { at: 1.5 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
      { at: 20 * SECOND, action: { kind: 'apply', pod: once(1) } },
    ],
    targetedFaults: [
      {
        call: { target: 'disk', name: 'writeFile', about: `${PATHS.root}/statelet/allocations` },
        fault: { kind: 'hang' },
      },
    ],
  },
  'C23: restarts are counted from the logs even if the agent could not list the pods that have logs': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web({}) } },
      { at: 5 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
      { at: 10 * SECOND, action: { kind: 'killAgent', downMs: 10 * SECOND } },
      { at: 15 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
    ],
    // The previous agent lists the directory three times.
    targetedFaults: [
      { call: { target: 'disk', name: 'readdir', about: PATHS.logs }, fault: { kind: 'fail', code: 'EIO' }, skip: 3 },
    ],
  },
};

test.each(Object.entries(storiesWithFaults))('%s', async (_, { actions, targetedFaults: selected }) => {
  const faults = planTargetedFaults(selected);
  const { violation } = await play({ seed: 1, faults: [], lastsMs: 60 * SECOND, actions }, { invariants, faults });
  expect(violation).toBeUndefined();
  expect(faults.left()).toBe(0);
});
