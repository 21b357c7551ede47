/** Prerequisites of a pod's sandbox: directory, cgroup and volumes. A part of the chart in chart.ts. */
import { failureOf } from '../../shared/failure.ts';
import { areVolumesSettled } from '../context.ts';
import { asFailed, directoryFailed } from '../recordedEvents.ts';
import { allSandboxes } from '../sandbox.ts';
import { admittedUpdateActions, type PodArgs, podSetup } from '../setup.ts';

const guards = { areVolumesSettled: ({ context }: PodArgs) => areVolumesSettled(context) };

export const preparingImplementations = { guards };

export const preparing = podSetup.extend(preparingImplementations).createStateConfig({
  tags: ['preparing', 'settingUp'],
  initial: 'directory',
  states: {
    directory: {
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'its directory to be created' },
      invoke: {
        src: 'preparePod',
        input: ({ context }) => ({ pod: context.allocated, ran: allSandboxes(context) }),
        onDone: 'cgroup',
        onError: {
          target: 'awaitingRetry',
          actions: ['recordFailure', { type: 'recordEvent', params: ({ event }) => directoryFailed(failureOf(event)) }],
        },
      },
    },
    cgroup: {
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'its cgroup to be created' },
      invoke: {
        src: 'prepareCgroup',
        input: ({ context }) => ({ pod: context.allocated }),
        onDone: 'volumes',
        onError: {
          target: 'awaitingRetry',
          actions: ['recordFailure', { type: 'recordEvent', params: ({ event }) => asFailed(failureOf(event)) }],
        },
      },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to create its directory and cgroup', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'directory', 'runtime.returned': { guard: 'failedForRuntime', target: 'directory' } },
    },
    volumes: {
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'its volumes to be mounted' },
      entry: 'spawnVolumes',
      always: { guard: 'areVolumesSettled', target: '#pod.sandboxing' },
      on: { 'admission.admitted': { actions: admittedUpdateActions } },
    },
  },
});
