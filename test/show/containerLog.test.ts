import { describe, expect, test } from '@jest/globals';
import { defaultContainer, isRunning, requireContainer, selectRun } from '../../show/containerLog.ts';
import { backOff, exited, podView, run, running, seenPod, waiting } from '../kubernetes/views.ts';

type Parts = Parameters<typeof podView>[0];
const podOf = (parts: Parts) => seenPod(podView(parts)).pod;
const annotated = (name: string) => ({ annotations: { 'kubectl.kubernetes.io/default-container': name } });

describe('the container whose log is shown', () => {
  test('is the only one, the first one with a note, or the annotated one', () => {
    expect(defaultContainer(podOf({ main: { app: running() } }))).toEqual({ name: 'app' });
    const parts = { init: { setup: exited(0) }, main: { app: running(), log: running() }, ephemeral: { shell: null } };
    expect(defaultContainer(podOf(parts))).toEqual({
      name: 'app',
      note: 'Defaulted container "app" out of: app, log, shell (ephem), setup (init)',
    });
    expect(defaultContainer(podOf({ ...parts, meta: annotated('setup') }))).toEqual({ name: 'setup' });
    expect(defaultContainer(podOf({ ...parts, meta: annotated('none') })).note).toBe(
      'Default container name "none" not found in pod web\nDefaulted container "app" out of: app, log, shell (ephem), setup (init)',
    );
  });

  test('is rejected if the pod does not have it, even if its name is that of an object property', () => {
    const pod = podOf({ init: { setup: exited(0) }, main: { app: running() } });
    requireContainer(pod, 'setup');
    for (const name of ['none', 'constructor'])
      expect(() => requireContainer(pod, name)).toThrow(
        `container ${name} is not valid for pod web out of: app, setup (init)`,
      );
  });
});

describe('the run whose log is shown', () => {
  const present = (state: ReturnType<typeof running>) => selectRun(podOf({ main: { app: state } }), 'app');
  const previous = (state: ReturnType<typeof running>) =>
    selectRun(podOf({ main: { app: state } }), 'app', { previous: true });
  const before = run(1, { containerId: 'before' });

  test('is the current or the previous one', () => {
    const restarted = running({ restartCount: 3, lastRun: before });
    expect(present(restarted)).toEqual({ run: 3, id: 'containerd://c1' });
    expect(previous(restarted)).toEqual({ run: 2, id: 'containerd://before' });
    const ended = exited(0, { restartCount: 3, lastRun: before });
    expect([present(ended).run, previous(ended).run]).toEqual([3, 2]);
  });

  test('is the last one in both cases while the container waits to restart', () => {
    const crashing = backOff(1, { restartCount: 3 });
    expect([present(crashing).run, previous(crashing).run]).toEqual([3, 3]);
    // The container has been created but not started.
    const atHand = backOff(1, { restartCount: 4, containerId: 'next', isAwaitingRun: true });
    expect(present(atHand)).toEqual({ run: 3, id: 'containerd://run' });
  });

  test.each([
    [waiting(), 'container "app" in pod "web" is waiting to start: ContainerCreating'],
    [waiting('ErrImagePull'), 'container "app" in pod "web" is waiting to start: image can\'t be pulled'],
    [waiting('ImagePullBackOff'), 'container "app" in pod "web" is waiting to start: trying and failing to pull image'],
    [
      exited(128, { now: { kind: 'terminated', run: run(128, { containerId: '' }) } }),
      'container "app" in pod "web" is terminated',
    ],
  ])('does not exist for a container that never ran (%#)', (state, message) => {
    expect(() => present(state)).toThrow(message);
    expect(() => previous(state)).toThrow('previous terminated container "app" in pod "web" not found');
  });

  test('is missing if the pod has no statuses', () => {
    const { status: _, ...pod } = podOf({ main: { app: running() } });
    expect(() => selectRun(pod, 'app')).toThrow('container "app" in pod "web" is not available');
    const silent = { ...podOf({ main: { app: running() } }) };
    const statuses = (silent.status?.containerStatuses ?? []).map((each) => ({ ...each, state: {} }));
    const unknown = { ...silent, status: { ...silent.status, containerStatuses: statuses } };
    expect(() => selectRun(unknown, 'app')).toThrow('container "app" in pod "web" is waiting to start - no logs yet');
  });

  test('is running while the container runs this run', () => {
    const pod = podOf({ main: { app: running({ restartCount: 1, lastRun: before }) } });
    expect(isRunning(pod, 'app', { run: 1, id: 'containerd://c1' })).toBe(true);
    expect(isRunning(pod, 'app', { run: 0, id: 'containerd://before' })).toBe(false);
    expect(isRunning(podOf({ main: { app: exited(0) } }), 'app', { run: 0, id: 'containerd://run' })).toBe(false);
  });
});
