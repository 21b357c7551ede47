import { expect, test } from '@jest/globals';
import { PLACES } from '../../../../testing/simulation/host/host.ts';
import { MANIFEST_HOST } from '../../../../testing/simulation/host/manifestPlace.ts';
import { invariants } from '../../../../testing/simulation/invariants/all.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import type { Moment } from '../../../../testing/simulation/stories/story.ts';
import { type Struck, striking } from '../../../../testing/simulation/stories/striking.ts';

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

const ENDS = `${PLACES.root}/statelet/unacknowledged`;
const PROBES = `${PLACES.root}/statelet/probes/`;
const probed = manifest('web', {
  restartPolicy: 'Never',
  containers: [container('main', { readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 } })],
});

const MANIFESTS = `${PLACES.root}/statelet/manifests`;
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
const kept: Readonly<Record<string, { readonly moments: readonly Moment[]; readonly struck: readonly Struck[] }>> = {
  'nothing that runs is ended for a manifest that cannot be read at the start, and whose last good version was not saved':
    {
      moments: [
        { at: 0, deed: { kind: 'apply', pod: web } },
        { at: 8 * SECOND, deed: { kind: 'killAgent', downMs: 0 } },
      ],
      struck: [
        {
          call: { room: 'disk', name: 'writeFile', about: `${PLACES.root}/statelet/manifests` },
          fate: { kind: 'fail', code: 'ENOSPC' },
          times: 2,
        },
        {
          call: { room: 'disk', name: 'open', about: `${PLACES.manifests}/web.json` },
          fate: { kind: 'fail', code: 'EMFILE' },
          after: 1,
        },
      ],
    },
  'C13: a pod that a drain has ended before its container was made begins anew, also where the drain was cut off': {
    moments: [
      { at: 0, deed: { kind: 'registryDown', images: [IMAGE], forMs: 30 * SECOND } },
      { at: 1, deed: { kind: 'apply', pod: onceWithImage } },
      { at: 10 * SECOND, deed: { kind: 'stopAgent', drains: true, downMs: 0 } },
      { at: 15 * SECOND, deed: { kind: 'killAgent', downMs: 0 } },
    ],
    struck: [{ call: { room: 'runtime', name: 'removePodSandbox' }, fate: { kind: 'hang' } }],
  },
  'C13: a container continues with its reported end if a drain was cut off after its logs were removed': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: web } },
      { at: 6 * SECOND, deed: { kind: 'mountForeign', which: 0, at: 'theirs', forMs: 60 * SECOND } },
      { at: 8 * SECOND, deed: { kind: 'stopAgent', drains: true, downMs: 0 } },
      { at: 50 * SECOND, deed: { kind: 'killAgent', downMs: 0 } },
    ],
    struck: [],
  },
  'C10: a stop that is tried again after the clock was set back grants no longer grace': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: stubborn } },
      { at: 8 * SECOND, deed: { kind: 'remove', pod: 'default/web-node-1' } },
      { at: 9 * SECOND, deed: { kind: 'jump', ms: -3_600 * SECOND } },
    ],
    struck: [{ call: { room: 'runtime', name: 'stopContainer' }, fate: { kind: 'fail' } }],
  },
  'no deadline of a pod that ends is past while the runtime hangs': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: stubborn } },
      { at: 8 * SECOND, deed: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    struck: [{ call: { room: 'runtime', name: 'stopContainer' }, fate: { kind: 'hang' } }],
  },
  'C23: restarts are counted of a container that is removed while its pod gets rid of its old sandbox': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: crashing } },
      { at: 20 * SECOND, deed: { kind: 'killAgent', downMs: 5 * SECOND } },
      { at: 21 * SECOND, deed: { kind: 'killSandbox', which: 0 } },
      { at: 28 * SECOND, deed: { kind: 'removeSandbox', which: 0 } },
    ],
    struck: [{ call: { room: 'runtime', name: 'stopPodSandbox' }, fate: { kind: 'late', ms: 10 * SECOND } }],
  },
  'a manifest whose removal was not seen to before the clock was set back is seen to after it': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: web } },
      { at: 5 * SECOND, deed: { kind: 'apply', pod: manifest('db') } },
      { at: 6 * SECOND, deed: { kind: 'remove', pod: 'default/web-node-1' } },
      { at: 7 * SECOND, deed: { kind: 'jump', ms: -3_600 * SECOND } },
    ],
    struck: [{ call: { room: 'disk', name: 'stat', about: `${PLACES.manifests}/db.json` }, fate: { kind: 'hang' } }],
  },
  'a container that starts late is of the version of its pod that it was made for, and ends with it': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: web } },
      { at: 8 * SECOND, deed: { kind: 'apply', pod: manifest('web', { terminationGracePeriodSeconds: 6 }) } },
    ],
    struck: [{ call: { room: 'runtime', name: 'startContainer' }, fate: { kind: 'hang' } }],
  },
  'a container that an agent made before it died is not started if its pod was resized meanwhile': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: burstable } },
      { at: 2 * SECOND, deed: { kind: 'apply', pod: sized({ requests: { ...amounts, cpu: '200m' } }) } },
    ],
    struck: [{ call: { room: 'runtime', name: 'createContainer' }, fate: { kind: 'death', when: 'after' } }],
  },
  'of a pod that is gone no fact comes back whose write had failed, although its removal hung': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: probed } },
      { at: 10 * SECOND, deed: { kind: 'exit', which: 0, exitCode: 1 } },
      { at: 12 * SECOND, deed: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    struck: [
      { call: { room: 'disk', name: 'rename', about: PROBES }, fate: { kind: 'fail', code: 'EIO' }, after: 2 },
      { call: { room: 'disk', name: 'rm', about: PROBES }, fate: { kind: 'hang' }, after: 1 },
    ],
  },
  'C2: a pod does not run again whose end was told while the disk did not answer': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: once } },
      { at: 10 * SECOND, deed: { kind: 'removeSandbox', which: 0 } },
      { at: 30 * SECOND, deed: { kind: 'killAgent', downMs: 100 } },
    ],
    struck: [
      {
        call: { room: 'disk', name: 'rename', about: `${PLACES.root}/statelet/statuses` },
        fate: { kind: 'hang' },
      },
    ],
  },
  'C2: how a pod has ended is saved although calls about other facts hang': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: overdue } },
      { at: 30 * SECOND, deed: { kind: 'killAgent', downMs: SECOND } },
    ],
    struck: [
      { call: { room: 'disk', name: 'writeFile', about: MANIFESTS }, fate: { kind: 'hang' } },
      {
        call: { room: 'disk', name: 'sync', about: `${PLACES.root}/statelet/statuses` },
        fate: { kind: 'hang' },
        after: 1,
      },
    ],
  },
  'a QoS class is saved although a call about another fact hangs': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: guaranteed } },
      { at: 20 * SECOND, deed: { kind: 'killAgent', downMs: SECOND } },
      { at: 20.5 * SECOND, deed: { kind: 'apply', pod: burstable } },
    ],
    struck: [{ call: { room: 'disk', name: 'rename', about: MANIFESTS }, fate: { kind: 'hang' } }],
  },
  'a pod is told to have started when its deadline began to run, although the runtime was ready later': {
    moments: [{ at: 0, deed: { kind: 'apply', pod: overdue } }],
    struck: [{ call: { room: 'runtime', name: 'version' }, fate: { kind: 'late', ms: 3 * SECOND } }],
  },
  'what is left of a fact that could not be written goes with the fact, although deleting it failed at first': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: overdue } },
      { at: 40 * SECOND, deed: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    struck: [
      { call: { room: 'disk', name: 'rename', about: ENDS }, fate: { kind: 'fail', code: 'EIO' } },
      { call: { room: 'disk', name: 'rm', about: ENDS }, fate: { kind: 'fail', code: 'EMFILE' } },
    ],
  },
  'a folder of a pod that is gone by then is not made, nor its directory again': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: web } },
      { at: 8 * SECOND, deed: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    struck: [
      { call: { room: 'disk', name: 'mkdir', about: `/containers` }, fate: { kind: 'hang' } },
      { call: { room: 'disk', name: 'mkdir', about: `/main` }, fate: { kind: 'fail', code: 'ENFILE' } },
    ],
  },
  'the link to a log is not made for a pod that is gone by then': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: web } },
      { at: 8 * SECOND, deed: { kind: 'runtimeDown', downMs: 100, keepContainers: true, forgets: 1 } },
      { at: 30 * SECOND, deed: { kind: 'remove', pod: 'default/web-node-1' } },
    ],
    struck: [{ call: { room: 'disk', name: 'symlink', about: PLACES.logs }, fate: { kind: 'hang' } }],
  },
  'a QoS class is told once it is saved, and stays, although the manifest was edited while no agent lived': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: guaranteed } },
      { at: SECOND, deed: { kind: 'killAgent', downMs: SECOND } },
      { at: 1.5 * SECOND, deed: { kind: 'apply', pod: burstable } },
    ],
    struck: [
      {
        call: { room: 'disk', name: 'rename', about: `${PLACES.root}/statelet/allocations` },
        fate: { kind: 'late', ms: 2 * SECOND },
      },
    ],
  },
  'C9: a sidecar ends with its pod where the only other container could not be started': {
    moments: [{ at: 0, deed: { kind: 'apply', pod: onceBesideSidecar } }],
    struck: [
      {
        call: { room: 'runtime', name: 'startContainer' },
        fate: { kind: 'fail', code: 'UNKNOWN' },
        after: 1,
      },
    ],
  },
  'nothing is told of a pod that a shutdown ends before its manifest has been read': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: burstable } },
      { at: 8 * SECOND, deed: { kind: 'killAgent', downMs: SECOND } },
      { at: 11 * SECOND, deed: { kind: 'stopAgent', drains: true, downMs: SECOND } },
    ],
    struck: [
      { call: { room: 'disk', name: 'readdirBytes', about: PLACES.manifests }, fate: { kind: 'hang' }, after: 1 },
    ],
  },
  // The clock is set so that the node is looked at.
  'manifests that could not be read wait for no moment that is over while they are being read again': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: web } },
      { at: 50 * SECOND, deed: { kind: 'jump', ms: 10 * SECOND } },
    ],
    struck: [
      {
        call: { room: 'disk', name: 'readdirBytes', about: PLACES.manifests },
        fate: { kind: 'fail', code: 'EIO' },
        after: 1,
      },
      { call: { room: 'disk', name: 'readdirBytes', about: PLACES.manifests }, fate: { kind: 'hang' }, after: 1 },
    ],
  },
  'a list that could not be fetched waits for no moment that is over while it is asked for again': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: web, by: 'url' } },
      { at: 45 * SECOND, deed: { kind: 'jump', ms: 10 * SECOND } },
    ],
    struck: [
      { call: { room: 'network', name: 'fetch', about: MANIFEST_HOST }, fate: { kind: 'fail' }, after: 1 },
      { call: { room: 'network', name: 'fetch', about: MANIFEST_HOST }, fate: { kind: 'hang' }, after: 1 },
    ],
  },
  'an agent that drains waits for no moment that is over while a container takes longer to end than it was given': {
    moments: [
      { at: 0, deed: { kind: 'apply', pod: stubborn } },
      { at: 8 * SECOND, deed: { kind: 'stopAgent', drains: true, downMs: SECOND } },
      { at: 22 * SECOND, deed: { kind: 'jump', ms: 10 * SECOND } },
    ],
    struck: [{ call: { room: 'runtime', name: 'stopContainer' }, fate: { kind: 'hang' } }],
  },
};

test.each(Object.entries(kept))('%s', async (_, { moments, struck }) => {
  const faults = striking(struck);
  const { violation } = await play({ seed: 1, faults: [], lastsMs: 60 * SECOND, moments }, { invariants, faults });
  expect(violation).toBeUndefined();
  expect(faults.left()).toBe(0);
});
