import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { containerStatuses } from '../../../kubernetes/status/containerStatuses.ts';
import type { PodView, WaitReason } from '../../../kubernetes/status/view.ts';
import { backOff, ending, exited, NOW, podView, run, running, volumeView, waiting } from '../views.ts';

const of = (view: PodView, previous?: PodStatus) => containerStatuses(view, { previous, runtimeName: 'containerd' });

/** Returns the status of the only regular container. */
function main(view: PodView, previous?: PodStatus): ContainerStatus {
  const [status] = of(view, previous).regular;
  if (!status) throw new Error('the pod has no regular container');
  return status;
}

const atEnd = { ...ending(), hasEnded: true };
const unknownEnd = expect.objectContaining({ exitCode: 137, reason: 'ContainerStatusUnknown' });

describe('a container that', () => {
  test('runs has a start time, IDs, ready and started', () => {
    expect(
      main(
        podView({
          main: {
            a: running({ createdContainer: { image: 'docker.io/a:1', imageRef: 'sha256:ab' }, restartCount: 2 }),
          },
        }),
      ),
    ).toEqual({
      name: 'a',
      state: { running: { startedAt: '2026-05-04T12:01:56Z' } },
      lastState: {},
      ready: true,
      restartCount: 2,
      image: 'docker.io/a:1',
      imageID: 'sha256:ab',
      containerID: 'containerd://c1',
      resources: {},
      started: true,
    });
  });

  test('runs since an unknown time has no start time', () => {
    const now = { kind: 'running', startedAt: undefined } as const;
    expect(main(podView({ main: { a: running({ now }) } })).state).toEqual({ running: {} });
  });

  test('exited has its result and its times in whole seconds', () => {
    const end = run(137, { reason: 'OOMKilled', signal: 9, message: 'too big', finishedAt: NOW - 29_001 });
    const state = exited(137, { now: { kind: 'terminated', run: end }, lastRun: run(1, { containerId: 'c0' }) });
    expect(main(podView({ main: { a: state } }))).toMatchObject({
      state: {
        terminated: {
          exitCode: 137,
          signal: 9,
          reason: 'OOMKilled',
          message: 'too big',
          startedAt: '2026-05-04T12:01:56Z',
          finishedAt: '2026-05-04T12:02:26Z',
          containerID: 'containerd://run',
        },
      },
      lastState: { terminated: { exitCode: 1, reason: 'Error', containerID: 'containerd://c0' } },
      ready: false,
      started: false,
    });
  });

  test('is in back-off retains its last run, ID and restart count', () => {
    expect(main(podView({ main: { a: backOff(1, { restartCount: 3 }) } }))).toMatchObject({
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 1, finishedAt: '2026-05-04T12:02:26Z' } },
      restartCount: 3,
      containerID: 'containerd://run',
      ready: false,
    });
  });

  test('waits for a restart is still the terminated one, even if the next one is already created', () => {
    const ids = (state: Parameters<typeof podView>[0]['main']) => main(podView({ main: state ?? {} })).containerID;
    expect(ids({ a: backOff(1, { containerId: 'next' }) })).toBe('containerd://run');
    // An earlier agent created the next container, which this agent has only observed at the runtime.
    expect(ids({ a: backOff(1, { containerId: 'next', isAwaitingRun: true }) })).toBe('containerd://next');
    expect(ids({ a: waiting('ContainerCreating', { containerId: 'first' }) })).toBe('containerd://first');
    expect(ids({ a: exited(1, { containerId: 'next' }) })).toBe('containerd://run');
  });

  test('was ready but no longer runs is not ready', () => {
    expect(main(podView({ main: { a: exited(0, { ready: true, started: true }) } }))).toMatchObject({
      ready: false,
      started: false,
    });
  });

  test('has a run without times, reported as null', () => {
    const { containerId, exitCode, reason } = run(137);
    const state = exited(137, { now: { kind: 'terminated', run: { containerId, exitCode, reason } } });
    expect(main(podView({ main: { a: state } })).state?.terminated).toMatchObject({
      startedAt: null,
      finishedAt: null,
    });
  });

  test('was created has requested and actual resources', () => {
    const resources = { requests: { cpu: '100m' }, limits: { memory: '64Mi' } };
    const spec = { containers: [{ name: 'a', image: 'a:1', resources }] };
    const made = main(podView({ main: { a: running() }, spec }));
    expect([made.allocatedResources, made.resources]).toEqual([{ cpu: '100m' }, resources]);
    expect(main(podView({ main: { a: waiting() }, spec }))).not.toHaveProperty('resources');
  });
});

describe('C22: the termination messages of a pod', () => {
  const exitedWith = (message: string) => exited(1, { now: { kind: 'terminated', run: run(1, { message }) } });
  const length = (status?: ContainerStatus) => status?.state?.terminated?.message?.length;

  test('share 12 KiB, each truncated to its start', () => {
    const long = `begin${'x'.repeat(4_091)}`;
    const few = of(podView({ main: { a: exitedWith(long), b: exitedWith(long), c: exitedWith(long) } })).regular;
    expect(few.map(length)).toEqual([4_096, 4_096, 4_096]);
    const view = podView({
      init: { i: exitedWith(long) },
      main: { a: exitedWith(long), b: exitedWith('short'), c: exitedWith(long) },
    });
    const { init, regular } = of(view);
    expect([...init, ...regular].map(length)).toEqual([3_072, 3_072, 5, 3_072]);
    expect(init[0]?.state?.terminated?.message).toMatch(/^beginx+$/);
  });

  test('include those of previous runs', () => {
    const lastRun = run(1, { message: 'y'.repeat(20_000) });
    const { lastState } = main(podView({ main: { a: running({ lastRun }) } }));
    expect(lastState?.terminated?.message).toHaveLength(12_288);
  });
});

describe('C16: a waiting container has the reason', () => {
  const reasons: WaitReason[] = [
    'ContainerCreating',
    'PodInitializing',
    'CrashLoopBackOff',
    'ErrImagePull',
    'ImagePullBackOff',
    'ErrImageNeverPull',
    'InvalidImageName',
    'CreateContainerConfigError',
    'CreateContainerError',
    'RunContainerError',
    'PostStartHookError',
  ];
  test.each(reasons)('%s', (reason) => {
    const view = podView({ main: { a: waiting(reason, { now: { kind: 'waiting', reason, message: 'because' } }) } });
    expect(main(view).state).toEqual({ waiting: { reason, message: 'because' } });
  });
});

describe('a container without an actor', () => {
  test('waits for its creation', () => {
    expect(main(podView({ main: { a: null } }))).toEqual({
      name: 'a',
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: {},
      ready: false,
      restartCount: 0,
      image: 'a:1',
      imageID: '',
      started: false,
    });
  });

  test('waits for the pod to initialize if it has init containers', () => {
    const { init, regular } = of(podView({ init: { i: null }, main: { a: null } }));
    expect([...init, ...regular].map(({ state }) => state)).toEqual([
      { waiting: { reason: 'PodInitializing' } },
      { waiting: { reason: 'PodInitializing' } },
    ]);
  });

  test('retains its reported exit', () => {
    const before = main(podView({ main: { a: exited(3) } }));
    expect(main(podView({ main: { a: null } }), { containerStatuses: [before] })).toEqual(before);
  });

  test('retains its restart count and last run while it waits', () => {
    const before = main(podView({ main: { a: backOff(1, { restartCount: 7 }) } }));
    expect(main(podView({ main: { a: null } }), { containerStatuses: [before] })).toMatchObject({
      restartCount: 7,
      lastState: { terminated: { exitCode: 1 } },
    });
  });
});

describe('the status lists', () => {
  test('are in spec order for init containers and sidecars, and sorted by name for others', () => {
    const spec = {
      initContainers: [
        { name: 'z', image: 'z' },
        { name: 's', image: 's', restartPolicy: 'Always' as const },
        { name: 'b', image: 'b' },
      ],
      containers: [
        { name: 'y', image: 'y' },
        { name: 'a', image: 'a' },
      ],
    };
    const view = podView({
      init: { b: waiting(), z: exited(0) },
      sidecars: { s: running() },
      main: { a: waiting(), y: waiting() },
      ephemeral: { debug: running() },
      spec: { ...spec, ephemeralContainers: [{ name: 'debug', image: 'debug' }] },
    });
    const { init, regular, ephemeral } = of(view);
    expect([init, regular, ephemeral].map((list) => list.map(({ name }) => name))).toEqual([
      ['z', 's', 'b'],
      ['a', 'y'],
      ['debug'],
    ]);
  });

  test('show an init container as ready once it has succeeded, and a sidecar while it is ready', () => {
    const { init } = of(
      podView({
        init: { done: exited(0), failed: exited(1), busy: running({ ready: true, started: false }) },
        sidecars: { warm: running(), cold: running({ ready: false, started: false }) },
        main: { a: waiting() },
      }),
    );
    expect(init.map(({ name, ready, started }) => [name, ready, started])).toEqual([
      ['done', true, false],
      ['failed', false, false],
      ['busy', false, true],
      ['warm', true, true],
      ['cold', false, false],
    ]);
  });

  test('show an ephemeral container as neither ready nor started', () => {
    const [debug] = of(podView({ main: { a: running() }, ephemeral: { debug: running() } })).ephemeral;
    expect(debug?.ready).toBe(false);
    expect(debug).not.toHaveProperty('started');
  });

  test('are empty for a rejected pod', () => {
    const view = podView({
      init: { i: null },
      main: { a: waiting() },
      view: { refusal: { reason: 'NodePorts', message: '' } },
    });
    expect(of(view)).toEqual({ init: [], regular: [], ephemeral: [] });
  });

  test('show containers of a rejected pod that ran before', () => {
    const view = podView({
      main: { a: exited(0), b: waiting() },
      view: { refusal: { reason: 'NodePorts', message: '' } },
    });
    expect(of(view).regular.map(({ name }) => name)).toEqual(['a']);
  });
});

describe('C13: the containers of a terminated pod', () => {
  test('exit with 137 if the exit is unknown', () => {
    expect(main(podView({ main: { a: running() }, view: atEnd }))).toMatchObject({
      state: { terminated: unknownEnd },
      ready: false,
      started: false,
    });
  });

  test('are unchanged before the pod has terminated', () => {
    expect(main(podView({ main: { a: running() }, view: ending() })).state).toHaveProperty('running');
  });

  test('retain a known exit', () => {
    expect(main(podView({ main: { a: exited(143) }, view: atEnd })).state?.terminated?.exitCode).toBe(143);
  });

  test('have an unknown exit after that of their last run if they were in back-off', () => {
    expect(main(podView({ main: { a: backOff(3) }, view: atEnd }))).toMatchObject({
      state: { terminated: unknownEnd },
      lastState: { terminated: { exitCode: 3, reason: 'Error' } },
    });
  });

  test('exit with 137 if they never ran in an initialized pod', () => {
    expect(main(podView({ main: { a: waiting('ImagePullBackOff') }, view: atEnd })).state).toEqual({
      terminated: unknownEnd,
    });
  });

  test('remain terminated while the pod is being removed', () => {
    const view = podView({ main: { a: waiting('ContainerCreating') }, view: ending() });
    expect(main(view, { phase: 'Running' }).state).toHaveProperty('waiting');
    expect(main(view, { phase: 'Failed' }).state).toEqual({ terminated: unknownEnd });
  });

  test('wait if they never ran in a pod that was not initialized', () => {
    const view = podView({ init: { i: exited(1) }, main: { a: waiting('PodInitializing') }, view: atEnd });
    expect(main(view).state).toEqual({ waiting: { reason: 'PodInitializing' } });
  });

  test('exit with 137 only if there is evidence that an init container had started', () => {
    const view = podView({
      init: { i: waiting(), j: exited(1), k: waiting() },
      main: { a: waiting('PodInitializing') },
      view: atEnd,
    });
    expect(of(view).init.map(({ state }) => state?.terminated?.exitCode)).toEqual([137, 1, undefined]);
  });

  test('count a restart as evidence', () => {
    const view = podView({
      init: { i: waiting('CrashLoopBackOff', { restartCount: 1 }) },
      main: { a: waiting() },
      view: atEnd,
    });
    expect(of(view).init[0]?.state).toEqual({ terminated: unknownEnd });
  });
});

describe('C13: a container that the runtime has lost', () => {
  const end = { terminated: { exitCode: 0, reason: 'Completed', containerID: 'containerd://old' } };
  const reported = (more: Partial<ContainerStatus> = {}): ContainerStatus => ({
    name: 'a',
    image: 'a:1',
    imageID: 'sha256:a',
    ready: false,
    restartCount: 2,
    state: {},
    lastState: {},
    ...more,
  });
  const reportedAs = (status: ContainerStatus): PodStatus => ({ containerStatuses: [status] });

  test('retains its reported exit until it is created again', () => {
    const ended = reported({ state: end });
    expect(main(podView({ main: { a: waiting() } }), reportedAs(ended))).toBe(ended);
    const inferred = run(137, { containerId: '', reason: 'ContainerStatusUnknown' });
    const fromLogs = waiting('ContainerCreating', { lastRun: inferred, restartCount: 2 });
    expect(main(podView({ main: { a: fromLogs } }), reportedAs(ended))).toBe(ended);
    const later = waiting('ContainerCreating', { lastRun: inferred, restartCount: 3 });
    expect(main(podView({ main: { a: later } }), reportedAs(ended))).toMatchObject({
      lastState: { terminated: unknownEnd },
      restartCount: 3,
    });
    const removed = run(137, { containerId: '', reason: 'RestartingAllContainers' });
    const restarted = waiting('ContainerCreating', { lastRun: removed, restartCount: 3 });
    expect(main(podView({ main: { a: restarted } }), reportedAs(ended))).toMatchObject({
      lastState: { terminated: { reason: 'RestartingAllContainers' } },
      restartCount: 3,
    });
  });

  test('has the reported exit as its last state while it cannot be created', () => {
    const view = podView({ main: { a: waiting('ImagePullBackOff') } });
    expect(main(view, reportedAs(reported({ state: end })))).toMatchObject({
      state: { waiting: { reason: 'ImagePullBackOff' } },
      lastState: end,
      restartCount: 2,
    });
  });

  test('prefers the reported last state to one inferred from its log', () => {
    const inferred = run(137, { containerId: '', reason: 'ContainerStatusUnknown' });
    const fromLogs = waiting('ContainerCreating', { lastRun: inferred, restartCount: 1 });
    const view = podView({ main: { a: fromLogs } });
    expect(main(view, reportedAs(reported({ lastState: end })))).toMatchObject({ lastState: end, restartCount: 2 });
    expect(main(view)).toMatchObject({ lastState: { terminated: unknownEnd }, restartCount: 1 });
  });

  test('retains the last state during the same run', () => {
    for (const seen of [
      running({ restartCount: 2 }),
      exited(143, { now: { kind: 'terminated', run: run(143, { containerId: 'c1' }) }, restartCount: 2 }),
    ]) {
      const view = podView({ main: { a: seen } });
      const lastStateAfter = (containerID: string) =>
        main(view, reportedAs(reported({ lastState: end, containerID }))).lastState;
      expect(lastStateAfter('containerd://c1')).toEqual(end);
      // A runtime that restarts may rename its containers.
      expect(lastStateAfter('containerd://c0')).toEqual(end);
      const own = reported({ lastState: { terminated: { ...end.terminated, containerID: 'containerd://c1' } } });
      expect(main(view, reportedAs({ ...own, containerID: 'containerd://c1' })).lastState).toEqual({});
    }
  });

  test('never has a lower restart count than was reported', () => {
    const before = reported({ containerID: 'containerd://c0', state: { running: {} }, restartCount: 3 });
    expect(main(podView({ main: { a: running({ restartCount: 2 }) } }), reportedAs(before)).restartCount).toBe(3);
  });

  test('has the reported exit as the last state of the next run, but not of a later one', () => {
    const ofOld = { terminated: { ...end.terminated, containerID: 'containerd://c0' } };
    const ended = reported({ containerID: 'containerd://c0', state: ofOld });
    const waits = reported({ containerID: 'containerd://c0', state: { waiting: {} }, lastState: ofOld });
    const lastStateOf = (seen: ReturnType<typeof waiting>, before: ContainerStatus) =>
      main(podView({ main: { a: seen } }), reportedAs(before)).lastState;
    for (const before of [ended, waits]) {
      expect(lastStateOf(waiting('ContainerCreating', { containerId: 'c1', restartCount: 2 }), before)).toEqual(ofOld);
      expect(lastStateOf(running({ restartCount: 3 }), before)).toEqual(ofOld);
      expect(lastStateOf(running({ restartCount: 4 }), before)).toEqual({});
    }
    const ran = reported({ containerID: 'containerd://c0', state: {}, lastState: end });
    expect(lastStateOf(running({ restartCount: 3 }), ran)).toEqual({});
    const atHand = waiting('ContainerCreating', { containerId: 'c1', isAwaitingRun: true, restartCount: 2 });
    const created = reported({ containerID: 'containerd://c0', state: { waiting: {} }, lastState: end });
    expect(lastStateOf(atHand, created)).toEqual(end);
    expect(lastStateOf(running({ restartCount: 2 }), created)).toEqual(end);
    const sameEnd = exited(0, { now: { kind: 'terminated', run: run(0, { containerId: 'c1' }) }, restartCount: 2 });
    expect(lastStateOf(sameEnd, ended)).toEqual({});
  });

  test('does not have an exit that was assigned when its pod terminated as its last state', () => {
    const view = podView({ main: { a: waiting('ImagePullBackOff') }, view: atEnd });
    const once = main(view);
    expect(once).toMatchObject({ state: { terminated: unknownEnd }, lastState: {} });
    expect(main(view, reportedAs(once))).toEqual(once);
    const ofRun = { terminated: { ...end.terminated, containerID: 'containerd://c0' } };
    const given = { ...once, containerID: 'containerd://c0', restartCount: 2, lastState: ofRun };
    const next = podView({ main: { a: running({ restartCount: 3 }) } });
    expect(main(next, reportedAs(given)).lastState).toEqual(ofRun);
  });

  test('uses an exit from the runtime, whatever was reported', () => {
    expect(main(podView({ main: { a: exited(3) } }), reportedAs(reported({ state: end }))).state).toMatchObject({
      terminated: { exitCode: 3 },
    });
  });

  test('is inferred to have completed only for an init container of an initialized pod with regular containers', () => {
    const init = { i: waiting('PodInitializing') };
    const stateOf = (view: PodView) => of(view).init[0]?.state;
    const completed = { terminated: expect.objectContaining({ exitCode: 0, reason: 'Completed' }) };
    expect(stateOf(podView({ init, main: { a: running() }, view: { isInitialized: true } }))).toEqual(completed);
    const waits = { waiting: { reason: 'PodInitializing' } };
    expect(stateOf(podView({ init, main: { a: waiting() }, view: { isInitialized: true } }))).toEqual(waits);
    expect(stateOf(podView({ init, main: { a: running() }, view: { isInitialized: false } }))).toEqual(waits);
    const sidecar = {
      sidecars: { i: waiting('PodInitializing') },
      main: { a: running() },
      view: { isInitialized: true },
    };
    expect(stateOf(podView(sidecar))).toEqual(waits);
  });
});

describe('C13: a pod deleted before its first init container started', () => {
  const never = { i: waiting('PodInitializing'), j: waiting('PodInitializing') };

  test('reports an unknown exit of the first init container, while the others still wait', () => {
    const { init, regular } = of(podView({ init: never, main: { a: waiting('PodInitializing') }, view: atEnd }));
    expect(init.map(({ state }) => state)).toEqual([
      { terminated: unknownEnd },
      { waiting: { reason: 'PodInitializing' } },
    ]);
    expect(regular[0]?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
  });
});

describe('C16: a volume whose image is not available', () => {
  const waitingReason = { reason: 'ErrImagePull', message: 'no route' } as const;
  const volumeMounts = [{ name: 'site', mountPath: '/site' }];
  const volumes = [volumeView('data'), volumeView('site', { mounted: false, waitingReason })];
  const reasons = (containers: Partial<Pod['spec']>) => {
    const view = podView({ spec: containers, view: { volumes } });
    const { init, regular, ephemeral } = of(view);
    return [...init, ...regular, ...ephemeral].map(({ state }) => state?.waiting?.reason);
  };
  const container = (name: string, mounts = false) => ({ name, image: 'x', ...(mounts ? { volumeMounts } : {}) });

  test('is the waiting reason of exactly the containers that mount it', () => {
    expect(reasons({ containers: [container('a', true), container('b'), container('c', true)] })).toEqual([
      'ErrImagePull',
      'ContainerCreating',
      'ErrImagePull',
    ]);
    const view = podView({ spec: { containers: [container('a', true)] }, view: { volumes } });
    expect(of(view).regular[0]?.state).toEqual({ waiting: waitingReason });
  });

  test('is the waiting reason of only the first init container that mounts it, because those after it are not started', () => {
    const initContainers = [container('i'), container('j', true), container('k', true)];
    expect(reasons({ initContainers, containers: [container('a', true)] })).toEqual([
      'PodInitializing',
      'ErrImagePull',
      'PodInitializing',
      'PodInitializing',
    ]);
    expect(reasons({ initContainers: [container('i')], containers: [container('a', true)] })).toEqual([
      'PodInitializing',
      'ErrImagePull',
    ]);
  });
});

describe('the reported exit of a container without an actor', () => {
  const view = (restarts?: PodView['restarts']) =>
    podView({ spec: { containers: [{ name: 'a', image: 'x' }] }, view: restarts === undefined ? {} : { restarts } });
  const reported = main(podView({ main: { a: exited(0) } }));
  const previous: PodStatus = { containerStatuses: [reported] };

  test('is retained', () => {
    expect(main(view(), previous)).toBe(reported);
    expect(main(view({ a: 1 }), previous)).toBe(reported);
  });

  test('is replaced by a wait with a higher restart count if the runtime has lost a later run', () => {
    expect(main(view({ a: 2 }), previous)).toMatchObject({
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: {},
      restartCount: 1,
    });
  });
});
