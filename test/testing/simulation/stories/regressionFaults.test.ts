import { expect, test } from '@jest/globals';
import { PATHS } from '../../../../testing/simulation/host/host.ts';
import { MANIFEST_HOST } from '../../../../testing/simulation/host/manifestSources.ts';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import type { TimedAction } from '../../../../testing/simulation/stories/story.ts';
import {
  planTargetedFaults,
  type TargetedFault,
} from '../../../../testing/simulation/stories/variants/targetedFaults.ts';

const SECOND = 1_000;
const web = manifest('web', { containers: [container('main')] });

const crashing = manifest('web', { containers: [container('main', { command: ['sh', '-c', 'sleep 3; exit 1'] })] });

const stubborn = manifest('web', {
  terminationGracePeriodSeconds: 10,
  containers: [container('main', { command: ['sh', '-c', 'trap "" TERM; sleep 1d'] })],
});

const once = manifest('web', {
  restartPolicy: 'Never',
  containers: [container('main')],
});

const onceBesideSidecar = manifest('web', {
  restartPolicy: 'Never',
  initContainers: [container('sidecar', { restartPolicy: 'Always' })],
  containers: [container('main')],
});

const UID = '00000000-0000-4000-8000-000000000001';
/** Returns a pod with this UID and these resources. */
function sized(resources: object) {
  const { metadata, ...rest } = manifest('web', { containers: [container('main', { resources })] });
  return { ...rest, metadata: { ...metadata, uid: UID } };
}
const amounts = { cpu: '100m', memory: '16Mi' };
const guaranteed = sized({ requests: amounts, limits: amounts });
const burstable = sized({ requests: amounts });

const ENDS = `${PATHS.root}/statelet/unacknowledged`;
const PROBES = `${PATHS.root}/statelet/probes/`;
const probed = manifest('web', {
  restartPolicy: 'Never',
  containers: [container('main', { readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 } })],
});

const MANIFESTS = `${PATHS.root}/statelet/manifests`;
const IMAGE = 'registry.local/pulled:1';
const onceWithImage = manifest('web', {
  restartPolicy: 'Never',
  containers: [container('main', { image: IMAGE })],
});

/** The container exits successfully, but only after the deadline of its pod. */
const overdue = manifest('web', {
  restartPolicy: 'OnFailure',
  activeDeadlineSeconds: 5,
  containers: [container('main', { command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1d'] })],
});

/** Shortest forms of stories that random stories and faults at every call have broken. */
const stories: Readonly<
  Record<string, { readonly actions: readonly TimedAction[]; readonly targetedFaults: readonly TargetedFault[] }>
> = {
  'a running pod is not terminated if its manifest cannot be read at the start and its last valid version was not saved':
    {
      actions: [
        { at: 0, action: { kind: 'apply', pod: web } },
        { at: 8 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
      ],
      targetedFaults: [
        {
          call: { target: 'disk', name: 'writeFile', about: `${PATHS.root}/statelet/manifests` },
          fault: { kind: 'fail', code: 'ENOSPC' },
          times: 2,
        },
        {
          call: { target: 'disk', name: 'open', about: `${PATHS.manifests}/web.json` },
          fault: { kind: 'fail', code: 'EMFILE' },
          skip: 1,
        },
      ],
    },
  'C13: a pod that a drain terminated before its container was created starts again, even if the drain was interrupted':
    {
      actions: [
        { at: 0, action: { kind: 'registryDown', images: [IMAGE], forMs: 30 * SECOND } },
        { at: 1, action: { kind: 'apply', pod: onceWithImage } },
        { at: 10 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: 0 } },
        { at: 15 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
      ],
      targetedFaults: [{ call: { target: 'runtime', name: 'removePodSandbox' }, fault: { kind: 'hang' } }],
    },
  'C13: a container restarts after its reported exit if a drain was interrupted after its logs were removed': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 6 * SECOND, action: { kind: 'mountForeign', which: 0, at: 'theirs', forMs: 60 * SECOND } },
      { at: 8 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: 0 } },
      { at: 50 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
    ],
    targetedFaults: [],
  },
  'C10: a stop that is retried after the clock was set back does not extend the grace period': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: stubborn } },
      { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
      { at: 9 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'stopContainer' }, fault: { kind: 'fail' } }],
  },
  'no deadline of a terminating pod is overdue while the runtime hangs': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: stubborn } },
      { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'stopContainer' }, fault: { kind: 'hang' } }],
  },
  'C23: restarts are counted for a container that is removed while its pod removes its old sandbox': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: crashing } },
      { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 5 * SECOND } },
      { at: 21 * SECOND, action: { kind: 'killSandbox', which: 0 } },
      { at: 28 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'stopPodSandbox' }, fault: { kind: 'late', ms: 10 * SECOND } }],
  },
  'a manifest whose removal was not processed before the clock was set back is processed after it': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 5 * SECOND, action: { kind: 'apply', pod: manifest('db') } },
      { at: 6 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
      { at: 7 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    ],
    targetedFaults: [
      { call: { target: 'disk', name: 'stat', about: `${PATHS.manifests}/db.json` }, fault: { kind: 'hang' } },
    ],
  },
  'a container that starts late belongs to the version of its pod for which it was created, and stops with it': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 8 * SECOND, action: { kind: 'apply', pod: manifest('web', { terminationGracePeriodSeconds: 6 }) } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'startContainer' }, fault: { kind: 'hang' } }],
  },
  'a container that an agent created before it crashed is not started if its pod was resized meanwhile': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: burstable } },
      { at: 2 * SECOND, action: { kind: 'apply', pod: sized({ requests: { ...amounts, cpu: '200m' } }) } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'createContainer' }, fault: { kind: 'death', when: 'after' } }],
  },
  'no fact of a removed pod reappears after its write failed and its removal hung': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: probed } },
      { at: 10 * SECOND, action: { kind: 'exit', which: 0, exitCode: 1 } },
      { at: 12 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    targetedFaults: [
      { call: { target: 'disk', name: 'rename', about: PROBES }, fault: { kind: 'fail', code: 'EIO' }, skip: 2 },
      { call: { target: 'disk', name: 'rm', about: PROBES }, fault: { kind: 'hang' }, skip: 1 },
    ],
  },
  'C2: a pod whose terminal status was reported while the disk hung does not run again': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: once } },
      { at: 10 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
      { at: 30 * SECOND, action: { kind: 'killAgent', downMs: 100 } },
    ],
    targetedFaults: [
      {
        call: { target: 'disk', name: 'rename', about: `${PATHS.root}/statelet/statuses` },
        fault: { kind: 'hang' },
      },
    ],
  },
  'C2: a terminal status is saved although calls for other facts hang': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: overdue } },
      { at: 30 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
    ],
    targetedFaults: [
      { call: { target: 'disk', name: 'writeFile', about: MANIFESTS }, fault: { kind: 'hang' } },
      {
        call: { target: 'disk', name: 'sync', about: `${PATHS.root}/statelet/statuses` },
        fault: { kind: 'hang' },
        skip: 1,
      },
    ],
  },
  'a QoS class is saved although a call for a different fact hangs': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: guaranteed } },
      { at: 20 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
      { at: 20.5 * SECOND, action: { kind: 'apply', pod: burstable } },
    ],
    targetedFaults: [{ call: { target: 'disk', name: 'rename', about: MANIFESTS }, fault: { kind: 'hang' } }],
  },
  'the reported start time of a pod is the start of its deadline, although the runtime was ready later': {
    actions: [{ at: 0, action: { kind: 'apply', pod: overdue } }],
    targetedFaults: [{ call: { target: 'runtime', name: 'version' }, fault: { kind: 'late', ms: 3 * SECOND } }],
  },
  'the remains of a fact that could not be written are removed with the fact, although deleting them failed at first': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: overdue } },
      { at: 40 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    targetedFaults: [
      { call: { target: 'disk', name: 'rename', about: ENDS }, fault: { kind: 'fail', code: 'EIO' } },
      { call: { target: 'disk', name: 'rm', about: ENDS }, fault: { kind: 'fail', code: 'EMFILE' } },
    ],
  },
  'no directory is created for a pod that has been removed meanwhile': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    targetedFaults: [
      { call: { target: 'disk', name: 'mkdir', about: `/containers` }, fault: { kind: 'hang' } },
      { call: { target: 'disk', name: 'mkdir', about: `/main` }, fault: { kind: 'fail', code: 'ENFILE' } },
    ],
  },
  'the symlink to a log is not created for a pod that has been removed meanwhile': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 8 * SECOND, action: { kind: 'runtimeDown', downMs: 100, keepContainers: true, forgets: 1 } },
      { at: 30 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    targetedFaults: [{ call: { target: 'disk', name: 'symlink', about: PATHS.logs }, fault: { kind: 'hang' } }],
  },
  'a QoS class is reported once it is saved, and stays, although the manifest was edited while no agent was running': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: guaranteed } },
      { at: SECOND, action: { kind: 'killAgent', downMs: SECOND } },
      { at: 1.5 * SECOND, action: { kind: 'apply', pod: burstable } },
    ],
    targetedFaults: [
      {
        call: { target: 'disk', name: 'rename', about: `${PATHS.root}/statelet/allocations` },
        fault: { kind: 'late', ms: 2 * SECOND },
      },
    ],
  },
  'C9: a sidecar stops with its pod if the only other container could not be started': {
    actions: [{ at: 0, action: { kind: 'apply', pod: onceBesideSidecar } }],
    targetedFaults: [
      {
        call: { target: 'runtime', name: 'startContainer' },
        fault: { kind: 'fail', code: 'UNKNOWN' },
        skip: 1,
      },
    ],
  },
  'no status is reported for a pod that a shutdown terminates before its manifest has been read': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: burstable } },
      { at: 8 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
      { at: 11 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: SECOND } },
    ],
    targetedFaults: [
      { call: { target: 'disk', name: 'readdirBytes', about: PATHS.manifests }, fault: { kind: 'hang' }, skip: 1 },
    ],
  },
  // The clock is set so that the agent checks the node.
  'no wait of unreadable manifests is overdue while they are being read again': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 50 * SECOND, action: { kind: 'jump', ms: 10 * SECOND } },
    ],
    targetedFaults: [
      {
        call: { target: 'disk', name: 'readdirBytes', about: PATHS.manifests },
        fault: { kind: 'fail', code: 'EIO' },
        skip: 1,
      },
      { call: { target: 'disk', name: 'readdirBytes', about: PATHS.manifests }, fault: { kind: 'hang' }, skip: 1 },
    ],
  },
  'no wait of a list that could not be fetched is overdue while it is requested again': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web, by: 'url' } },
      { at: 45 * SECOND, action: { kind: 'jump', ms: 10 * SECOND } },
    ],
    targetedFaults: [
      { call: { target: 'network', name: 'fetch', about: MANIFEST_HOST }, fault: { kind: 'fail' }, skip: 1 },
      { call: { target: 'network', name: 'fetch', about: MANIFEST_HOST }, fault: { kind: 'hang' }, skip: 1 },
    ],
  },
  'no wait of a draining agent is overdue while a container takes longer to stop than its grace period': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: stubborn } },
      { at: 8 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: SECOND } },
      { at: 22 * SECOND, action: { kind: 'jump', ms: 10 * SECOND } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'stopContainer' }, fault: { kind: 'hang' } }],
  },
};

test.each(Object.entries(stories))('%s', async (_, { actions, targetedFaults: selected }) => {
  const faults = planTargetedFaults(selected);
  const { violation } = await play({ seed: 1, faults: [], lastsMs: 60 * SECOND, actions }, { invariants, faults });
  expect(violation).toBeUndefined();
  expect(faults.left()).toBe(0);
});
