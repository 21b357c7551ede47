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
/** One pod, whatever it asks for. */
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

/** It ends well, but too late. */
const overdue = manifest('web', {
  restartPolicy: 'OnFailure',
  activeDeadlineSeconds: 5,
  containers: [container('main', { command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1d'] })],
});

/** What drawn stories and faults at every call have broken, as short as it can be told. */
const kept: Readonly<
  Record<string, { readonly actions: readonly TimedAction[]; readonly targetedFaults: readonly TargetedFault[] }>
> = {
  'nothing that runs is ended for a manifest that cannot be read at the start, and whose last good version was not saved':
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
  'C13: a pod that a drain has ended before its container was made begins anew, also where the drain was cut off': {
    actions: [
      { at: 0, action: { kind: 'registryDown', images: [IMAGE], forMs: 30 * SECOND } },
      { at: 1, action: { kind: 'apply', pod: onceWithImage } },
      { at: 10 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: 0 } },
      { at: 15 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'removePodSandbox' }, fault: { kind: 'hang' } }],
  },
  'C13: a container continues with its reported end if a drain was cut off after its logs were removed': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 6 * SECOND, action: { kind: 'mountForeign', which: 0, at: 'theirs', forMs: 60 * SECOND } },
      { at: 8 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: 0 } },
      { at: 50 * SECOND, action: { kind: 'killAgent', downMs: 0 } },
    ],
    targetedFaults: [],
  },
  'C10: a stop that is tried again after the clock was set back grants no longer grace': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: stubborn } },
      { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
      { at: 9 * SECOND, action: { kind: 'jump', ms: -3_600 * SECOND } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'stopContainer' }, fault: { kind: 'fail' } }],
  },
  'no deadline of a pod that ends is past while the runtime hangs': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: stubborn } },
      { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'stopContainer' }, fault: { kind: 'hang' } }],
  },
  'C23: restarts are counted of a container that is removed while its pod gets rid of its old sandbox': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: crashing } },
      { at: 20 * SECOND, action: { kind: 'killAgent', downMs: 5 * SECOND } },
      { at: 21 * SECOND, action: { kind: 'killSandbox', which: 0 } },
      { at: 28 * SECOND, action: { kind: 'removeSandbox', which: 0 } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'stopPodSandbox' }, fault: { kind: 'late', ms: 10 * SECOND } }],
  },
  'a manifest whose removal was not seen to before the clock was set back is seen to after it': {
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
  'a container that starts late is of the version of its pod that it was made for, and ends with it': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 8 * SECOND, action: { kind: 'apply', pod: manifest('web', { terminationGracePeriodSeconds: 6 }) } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'startContainer' }, fault: { kind: 'hang' } }],
  },
  'a container that an agent made before it died is not started if its pod was resized meanwhile': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: burstable } },
      { at: 2 * SECOND, action: { kind: 'apply', pod: sized({ requests: { ...amounts, cpu: '200m' } }) } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'createContainer' }, fault: { kind: 'death', when: 'after' } }],
  },
  'of a pod that is gone no fact comes back whose write had failed, although its removal hung': {
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
  'C2: a pod does not run again whose end was told while the disk did not answer': {
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
  'C2: how a pod has ended is saved although calls about other facts hang': {
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
  'a QoS class is saved although a call about another fact hangs': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: guaranteed } },
      { at: 20 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
      { at: 20.5 * SECOND, action: { kind: 'apply', pod: burstable } },
    ],
    targetedFaults: [{ call: { target: 'disk', name: 'rename', about: MANIFESTS }, fault: { kind: 'hang' } }],
  },
  'a pod is told to have started when its deadline began to run, although the runtime was ready later': {
    actions: [{ at: 0, action: { kind: 'apply', pod: overdue } }],
    targetedFaults: [{ call: { target: 'runtime', name: 'version' }, fault: { kind: 'late', ms: 3 * SECOND } }],
  },
  'what is left of a fact that could not be written goes with the fact, although deleting it failed at first': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: overdue } },
      { at: 40 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    targetedFaults: [
      { call: { target: 'disk', name: 'rename', about: ENDS }, fault: { kind: 'fail', code: 'EIO' } },
      { call: { target: 'disk', name: 'rm', about: ENDS }, fault: { kind: 'fail', code: 'EMFILE' } },
    ],
  },
  'a folder of a pod that is gone by then is not made, nor its directory again': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 8 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    targetedFaults: [
      { call: { target: 'disk', name: 'mkdir', about: `/containers` }, fault: { kind: 'hang' } },
      { call: { target: 'disk', name: 'mkdir', about: `/main` }, fault: { kind: 'fail', code: 'ENFILE' } },
    ],
  },
  'the link to a log is not made for a pod that is gone by then': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web } },
      { at: 8 * SECOND, action: { kind: 'runtimeDown', downMs: 100, keepContainers: true, forgets: 1 } },
      { at: 30 * SECOND, action: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    targetedFaults: [{ call: { target: 'disk', name: 'symlink', about: PATHS.logs }, fault: { kind: 'hang' } }],
  },
  'a QoS class is told once it is saved, and stays, although the manifest was edited while no agent lived': {
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
  'C9: a sidecar ends with its pod where the only other container could not be started': {
    actions: [{ at: 0, action: { kind: 'apply', pod: onceBesideSidecar } }],
    targetedFaults: [
      {
        call: { target: 'runtime', name: 'startContainer' },
        fault: { kind: 'fail', code: 'UNKNOWN' },
        skip: 1,
      },
    ],
  },
  'nothing is told of a pod that a shutdown ends before its manifest has been read': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: burstable } },
      { at: 8 * SECOND, action: { kind: 'killAgent', downMs: SECOND } },
      { at: 11 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: SECOND } },
    ],
    targetedFaults: [
      { call: { target: 'disk', name: 'readdirBytes', about: PATHS.manifests }, fault: { kind: 'hang' }, skip: 1 },
    ],
  },
  // The clock is set so that the node is looked at.
  'manifests that could not be read wait for no moment that is over while they are being read again': {
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
  'a list that could not be fetched waits for no moment that is over while it is asked for again': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: web, by: 'url' } },
      { at: 45 * SECOND, action: { kind: 'jump', ms: 10 * SECOND } },
    ],
    targetedFaults: [
      { call: { target: 'network', name: 'fetch', about: MANIFEST_HOST }, fault: { kind: 'fail' }, skip: 1 },
      { call: { target: 'network', name: 'fetch', about: MANIFEST_HOST }, fault: { kind: 'hang' }, skip: 1 },
    ],
  },
  'an agent that drains waits for no moment that is over while a container takes longer to end than it was given': {
    actions: [
      { at: 0, action: { kind: 'apply', pod: stubborn } },
      { at: 8 * SECOND, action: { kind: 'stopAgent', drains: true, downMs: SECOND } },
      { at: 22 * SECOND, action: { kind: 'jump', ms: 10 * SECOND } },
    ],
    targetedFaults: [{ call: { target: 'runtime', name: 'stopContainer' }, fault: { kind: 'hang' } }],
  },
};

test.each(Object.entries(kept))('%s', async (_, { actions, targetedFaults: selected }) => {
  const faults = planTargetedFaults(selected);
  const { violation } = await play({ seed: 1, faults: [], lastsMs: 60 * SECOND, actions }, { invariants, faults });
  expect(violation).toBeUndefined();
  expect(faults.left()).toBe(0);
});
