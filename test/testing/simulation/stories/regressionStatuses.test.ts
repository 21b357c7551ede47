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

/** Where what is told of a pod, or what it is given to end in, seemed to go back. */
const kept: Readonly<Record<string, readonly TimedAction[]>> = {
  'C10: what ends by its deadline is given no more grace where its pod is removed after the clock was set back': [
    { at: 0, action: { kind: 'apply', pod: web({}) } },
    { at: 2.6 * SECOND, action: { kind: 'apply', pod: web({}, { activeDeadlineSeconds: 1 }) } },
    { at: 2.8 * SECOND, action: { kind: 'jump', ms: -10 * SECOND } },
    { at: 2.9 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
  ],
  'C10: what ends for a deadline that had passed when it was set is given all of its grace': [
    { at: 0, action: { kind: 'apply', pod: web({}) } },
    { at: 20 * SECOND, action: { kind: 'apply', pod: web({}, { activeDeadlineSeconds: 1 }) } },
  ],
  'C10: what ends for its deadline on a clock that was set back meanwhile is given no more than its grace': [
    { at: 0, action: { kind: 'apply', pod: web({}, { activeDeadlineSeconds: 20 }) } },
    { at: 10 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
  ],
  'C23: for a container of a pod that ends nobody looks into logs where the runtime has an earlier run': [
    { at: 0, action: { kind: 'apply', pod: web({}) } },
    { at: 10 * SECOND, action: { kind: 'killSandbox', which: 0 } },
    { at: 20 * SECOND, action: { kind: 'stall', forMs: 30 * SECOND } },
    { at: 22 * SECOND, action: { kind: 'removeSandbox', which: 1 } },
    { at: 23 * SECOND, action: { kind: 'killAgent', downMs: 5 * SECOND } },
    { at: 45 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: SECOND } },
  ],
  'how the run before the last one ended is told until that has another after it': [
    { at: 0, action: { kind: 'apply', pod: ill } },
    { at: 20 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
  ],
  'C13: what was told to have ended without ever having run stays so while its pod is removed': [
    { at: 0, action: { kind: 'apply', pod: imageless } },
    { at: 20 * SECOND, action: { kind: 'remove', pod: 'default/imageless-node-1' } },
  ],
  'which version of a pod ran the next agent does not know where the disk has not taken that': [
    { at: 0, action: { kind: 'disk', fault: 'readOnly', forMs: 15 * SECOND } },
    { at: 2 * SECOND, action: { kind: 'apply', pod: web({ requests: amounts }) } },
    { at: 10 * SECOND, action: { kind: 'killAgent', downMs: 10 * SECOND } },
    { at: 12 * SECOND, action: { kind: 'apply', pod: web({ requests: amounts, limits: amounts }) } },
  ],
};

/** After how many seconds a pod is told to have exceeded its deadline, by the time that no jump of the clock changes. */
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
  // An agent that begins while the clock is ahead.
  const killed: TimedAction = { at: 15 * SECOND, action: { kind: 'killAgent', downMs: 10 * SECOND } };
  expect(await exceededAfter(650, [killed, ahead, back])).toBe(650);
});

test.each(Object.entries(kept))('%s', async (_, actions) => {
  const story = { seed: 1, faults: [], lastsMs: 90 * SECOND, actions };
  expect((await play(story, { invariants })).violation).toBeUndefined();
});

/** The same with faults. */
const storiesWithFaults: Readonly<
  Record<string, { readonly actions: readonly TimedAction[]; readonly targetedFaults: readonly TargetedFault[] }>
> = {
  'a pod of which its end alone was told, by the next agent, begins anew where it is wanted once more': {
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
  'C23: restarts are counted by the logs also where the agent could not look which pods have logs': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web({}) } },
      { at: 5 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
      { at: 10 * SECOND, action: { kind: 'killAgent', downMs: 10 * SECOND } },
      { at: 15 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
    ],
    // The agent before looks three times.
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
