import { describe, expect, test } from '@jest/globals';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { podStatus } from '../../../kubernetes/status/status.ts';
import type { PodView } from '../../../kubernetes/status/view.ts';
import { exited, NOW, podView, running, waiting } from '../views.ts';

const status = (view: PodView, previous?: PodStatus): PodStatus =>
  podStatus(view, { now: NOW, hostIps: [], runtimeName: 'containerd', ...(previous ? { previous } : {}) });

const unknown = (view: { readonly isRestartingAll?: boolean } = {}, containerId = 'c1') =>
  podView({
    main: {
      a: waiting('ContainerCreating', {
        containerId,
        isAwaitingRun: true,
        isStateUnknown: true,
        restartCount: 2,
        willRestart: true,
      }),
    },
    view,
  });

const wasRunning = status(podView({ main: { a: running({ restartCount: 2 }) } }));

describe('a container whose state the runtime does not know', () => {
  test('has terminated with exit code 137 if it was reported as running, and its pod stays Running', () => {
    const { phase, containerStatuses } = status(unknown(), wasRunning);
    expect(phase).toBe('Running');
    expect(containerStatuses).toMatchObject([
      {
        state: {
          terminated: {
            exitCode: 137,
            reason: 'ContainerStatusUnknown',
            message: 'The container could not be located when the pod was terminated',
          },
        },
        restartCount: 3,
        ready: false,
        containerID: 'containerd://c1',
      },
    ]);
    expect(containerStatuses?.[0]?.state?.terminated).not.toHaveProperty('containerID');
  });

  test('has the reason of the restart while the whole pod restarts', () => {
    const [container] = status(unknown({ isRestartingAll: true }), wasRunning).containerStatuses ?? [];
    expect(container?.state?.terminated).toMatchObject({ exitCode: 137, reason: 'RestartingAllContainers' });
  });

  test('is counted once, and the count remains when its exit is known', () => {
    const first = status(unknown(), wasRunning);
    const second = status(unknown(), first);
    expect(second.containerStatuses).toEqual(first.containerStatuses);
    const [renamed] = status(unknown({}, 'c2'), second).containerStatuses ?? [];
    expect(renamed).toMatchObject({ state: first.containerStatuses?.[0]?.state, restartCount: 3 });
    const stopped = podView({
      main: {
        a: exited(137, {
          now: { kind: 'terminated', run: { containerId: 'c1', exitCode: 137, reason: 'Error' } },
          restartCount: 2,
          willRestart: true,
        }),
      },
    });
    const [end] = status(stopped, second).containerStatuses ?? [];
    expect(end).toMatchObject({ restartCount: 3, state: { terminated: { containerID: 'containerd://c1' } } });
  });

  test('waits if it was not reported as running', () => {
    expect(status(unknown()).containerStatuses).toMatchObject([{ state: { waiting: {} }, restartCount: 2 }]);
    const waited = status(podView({ main: { a: waiting() } }));
    const { phase, containerStatuses } = status(unknown(), waited);
    expect([phase, containerStatuses?.[0]?.state]).toEqual(['Pending', { waiting: { reason: 'ContainerCreating' } }]);
  });
});
