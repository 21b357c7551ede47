/**
 * Creates the prerequisites of a pod's sandbox, i.e. the pod's directory, cgroup and volumes. Part of the chart in
 * chart.ts.
 */
import { failureOf } from '../../shared/waiting/failure.ts';
import { retryCallState } from '../../shared/waiting/waits.ts';
import { areVolumesSettled } from '../context.ts';
import { directoryFailedEvents, podFailureEvents } from '../recordedEvents.ts';
import { allSandboxIds } from '../sandbox.ts';
import { admittedUpdateActions, type PodArgs, podSetup } from '../setup.ts';

const guards = { areVolumesSettled: ({ context }: PodArgs) => areVolumesSettled(context) };

export const preparingImplementations = { guards };

export const preparing = podSetup.extend(preparingImplementations).createStateConfig({
  description: 'The prerequisites of the sandbox are created on the host.',
  tags: ['preparing', 'settingUp'],
  meta: { region: 'start' },
  initial: 'creatingDirectory',
  states: {
    creatingDirectory: {
      description: 'The directory of the pod is created below the root directory.',
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'its directory to be created' },
      invoke: {
        src: 'preparePod',
        input: ({ context }) => ({ pod: context.allocated, ran: allSandboxIds(context) }),
        onDone: 'creatingCgroup',
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ event }) => directoryFailedEvents(failureOf(event)) },
          ],
        },
      },
    },
    creatingCgroup: {
      description: 'The cgroup of the pod is created with the limits of the whole pod.',
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'its cgroup to be created' },
      invoke: {
        src: 'prepareCgroup',
        input: ({ context }) => ({ pod: context.allocated }),
        onDone: 'mountingVolumes',
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ event }) => podFailureEvents(failureOf(event)) },
          ],
        },
      },
    },
    awaitingRetry: retryCallState('creatingDirectory', {
      description: 'The directory or the cgroup could not be created. Another attempt follows after a delay.',
      waitsFor: 'another attempt to create its directory and cgroup',
    }),
    mountingVolumes: {
      description: 'The volumes are mounted. A failed image volume blocks only the containers that mount it.',
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'its volumes to be mounted' },
      entry: 'spawnVolumes',
      always: { guard: 'areVolumesSettled', target: '#pod.sandboxing' },
      on: { 'admission.admitted': { actions: admittedUpdateActions } },
    },
  },
});
