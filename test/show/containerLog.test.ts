import { describe, expect, test } from '@jest/globals';
import { defaultContainer, expectContainer, isRunning, selectRun } from '../../show/containerLog.ts';
import { backOff, exited, podView, run, running, seenPod, waiting } from '../kubernetes/views.ts';

type Parts = Parameters<typeof podView>[0];
const podOf = (parts: Parts) => seenPod(podView(parts)).pod;
const annotated = (name: string) => ({ annotations: { 'kubectl.kubernetes.io/default-container': name } });

describe('the container whose log is meant', () => {
  test('the only one, the first one with a note of the others, or the one of the annotation', () => {
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

  test('one that the pod does not have, be it called as a property of every object', () => {
    const pod = podOf({ init: { setup: exited(0) }, main: { app: running() } });
    expectContainer(pod, 'setup');
    for (const name of ['none', 'constructor'])
      expect(() => expectContainer(pod, name)).toThrow(
        `container ${name} is not valid for pod web out of: app, setup (init)`,
      );
  });
});

describe('the run whose log is meant', () => {
  const present = (state: ReturnType<typeof running>) => selectRun(podOf({ main: { app: state } }), 'app');
  const previous = (state: ReturnType<typeof running>) =>
    selectRun(podOf({ main: { app: state } }), 'app', { previous: true });
  const before = run(1, { containerId: 'before' });

  test('the present one, and the one before it', () => {
    const restarted = running({ restartCount: 3, last: before });
    expect(present(restarted)).toEqual({ run: 3, id: 'containerd://c1' });
    expect(previous(restarted)).toEqual({ run: 2, id: 'containerd://before' });
    const ended = exited(0, { restartCount: 3, last: before });
    expect([present(ended).run, previous(ended).run]).toEqual([3, 2]);
  });

  test('of one that waits to run again it is the last one both times', () => {
    const crashing = backOff(1, { restartCount: 3 });
    expect([present(crashing).run, previous(crashing).run]).toEqual([3, 3]);
    // One has been made and not started.
    const atHand = backOff(1, { restartCount: 4, containerId: 'next', atHand: true });
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
  ])('there is none (%#)', (state, message) => {
    expect(() => present(state)).toThrow(message);
    expect(() => previous(state)).toThrow('previous terminated container "app" in pod "web" not found');
  });

  test('a pod without statuses has none', () => {
    const { status: _, ...pod } = podOf({ main: { app: running() } });
    expect(() => selectRun(pod, 'app')).toThrow('container "app" in pod "web" is not available');
    const silent = { ...podOf({ main: { app: running() } }) };
    const statuses = (silent.status?.containerStatuses ?? []).map((each) => ({ ...each, state: {} }));
    const unknown = { ...silent, status: { ...silent.status, containerStatuses: statuses } };
    expect(() => selectRun(unknown, 'app')).toThrow('container "app" in pod "web" is waiting to start - no logs yet');
  });

  test('goes on as long as the container runs, and is this run', () => {
    const pod = podOf({ main: { app: running({ restartCount: 1, last: before }) } });
    expect(isRunning(pod, 'app', { run: 1, id: 'containerd://c1' })).toBe(true);
    expect(isRunning(pod, 'app', { run: 0, id: 'containerd://before' })).toBe(false);
    expect(isRunning(podOf({ main: { app: exited(0) } }), 'app', { run: 0, id: 'containerd://run' })).toBe(false);
  });
});
