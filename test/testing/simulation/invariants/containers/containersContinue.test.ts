import { expect, test } from '@jest/globals';
import type { PodChange } from '../../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect } from '../../../../../cri/simulated/objects/views.ts';
import type { PodSpec } from '../../../../../kubernetes/api/schema/pod.ts';
import { PATHS } from '../../../../../testing/simulation/host/host.ts';
import { MANIFEST_URL } from '../../../../../testing/simulation/host/manifestSources.ts';
import { containersContinue } from '../../../../../testing/simulation/invariants/containers/containersContinue.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { Simulation, simulateNode } from '../../../../../testing/simulation/simulateNode.ts';
import { container, type ManifestSpec, manifest } from '../../../../../testing/simulation/stories/manifests.ts';
import { ActionLog } from '../../../../../testing/simulation/users/actionLog.ts';

const OF_ITS_MANIFEST = 'c3e092f30f36536cf70640bc87963462';
const POD = 'default/web-node-1';

const NAMED = { name: 'main', image: 'web:1' };
const OTHER = { name: 'other', image: 'web:1' };

/** Returns functions that each let something happen in the runtime at a given second, and the resulting violations. */
function story(uid: string) {
  const [actionLog, violations] = [new ActionLog(), [] as string[]];
  const clock = { elapsed: 0, ahead: 0, now: () => clock.elapsed + clock.ahead };
  const named = uid === OF_ITS_MANIFEST ? {} : { uid };
  actionLog.want(POD, { file: 'web.json', ...named });
  // The invariant reads only these fields.
  const watched = { host: { clock }, actionLog } as unknown as Watched;
  const following = containersContinue.follow(watched, (message) => void violations.push(message));
  const { onEffect, onCall, onStatus, onEvent, onAgentStarted, afterStep } = following;
  const sandbox = { id: 's', podUid: uid, namespace: 'default', podName: 'web-node-1' };
  const main = { ...sandbox, id: 'c', containerName: 'main', imageName: 'docker.io/library/web:1', sandbox };
  const effect = (second: number, kind: RuntimeEffect['kind'], container?: typeof main) => {
    clock.elapsed = second * 1_000;
    onEffect?.({ kind, sandbox, ...(container ? { container } : {}) } as unknown as RuntimeEffect);
    afterStep?.();
  };
  return {
    sandbox: (second: number) => effect(second, 'created'),
    ask: (second: number) => {
      clock.elapsed = second * 1_000;
      onCall?.({ target: 'runtime', name: 'startContainer', about: main.id, writes: true });
    },
    start: (second: number) => effect(second, 'started', main),
    begin: () => onAgentStarted?.(),
    rename: (second: number) => effect(second, 'renamed', main),
    end: (second: number) => effect(second, 'ended', main),
    touch: (second: number) => actionLog.noteCause(POD, second * 1_000),
    touchContainer: (name: string, second: number) => actionLog.noteContainerCause(POD, name, second * 1_000),
    setClock: (second: number, ahead: number) =>
      void Object.assign(clock, { elapsed: second * 1_000, ahead: ahead * 1_000 }),
    show: (spec: PodSpec, startTime?: string) => {
      const status = { startTime, containerStatuses: [{ state: { running: {} } }] };
      onStatus?.({ uid, removed: false, pod: { spec, status } } as unknown as PodChange);
    },
    tell: (second: number, reason: string, message: string) => {
      clock.elapsed = second * 1_000;
      const involved = { uid, fieldPath: 'spec.containers{main}' };
      onEvent?.({ reason, message, involved } as unknown as Parameters<NonNullable<typeof onEvent>>[0]);
    },
    want: (next: string) => actionLog.want(POD, { uid: next }),
    write: (spec: Partial<ManifestSpec>) => actionLog.want(POD, { ...named, manifest: manifest('web', spec) }),
    violations,
  };
}

test.each([
  ['web:1', [`${POD} main was stopped without a cause`]],
  ['web:2', []],
])('a container of image web:1 may stop if its pod requests a different image: %s', (image, violated) => {
  const { sandbox, ask, start, end, show, violations } = story('of-the-user');
  sandbox(1);
  ask(1);
  start(2);
  show({ containers: [{ ...NAMED, image }] });
  end(3);
  expect(violations).toEqual(violated);
});

test.each([OF_ITS_MANIFEST, 'of-the-user'])(
  'a container that exits without a cause is reported for a pod with the UID %s',
  (uid) => {
    const { sandbox, start, end, touch, violations } = story(uid);
    touch(0);
    sandbox(1);
    start(2);
    end(3);
    expect(violations).toEqual([`${POD} main was stopped without a cause`]);
  },
);

test.each([
  ['first reports the pod is no reason', 0, 1],
  ['comes later is one', 0.01, 0],
])(
  'a change of the manifest may stop a static pod, unless it is the one that created the pod: a change that %s',
  (_, seconds, violated) => {
    const { show, touch, sandbox, ask, start, end, violations } = story(OF_ITS_MANIFEST);
    show({ containers: [NAMED] });
    touch(seconds);
    sandbox(1);
    ask(2);
    start(3);
    end(4);
    expect(violations).toHaveLength(violated);
  },
);

test.each([
  ['a pod with the UID of its manifest', {}],
  ['a pod with a UID of the user', { uid: 'of-the-user' }],
])('an exit without a cause on a complete node is reported immediately: %s', async (_, named) => {
  const node = await simulateNode({ seed: 1, invariants: [containersContinue] });
  const web = manifest('web');
  node.apply({ ...web, metadata: { ...web.metadata, ...named } });
  await node.advance(3_000);
  node.actionLog.noteContainerCause = () => {};
  node.perform({ kind: 'exit', which: 0, exitCode: 1 });
  await expect(node.advance(1_000)).rejects.toThrow(`${POD} main was stopped without a cause`);
  node.kill();
});

test.each([
  [OF_ITS_MANIFEST, 0],
  ['00000000-0000-4000-8000-000000000001', 1],
])(
  'a pod whose manifest was replaced before its sandbox was created may stop once the new manifest is read: %s',
  (uid, violated) => {
    const { show, touch, sandbox, ask, start, end, violations } = story(uid);
    show({ containers: [NAMED] });
    touch(5);
    sandbox(9);
    ask(10);
    start(11);
    end(20);
    expect(violations).toHaveLength(violated);
  },
);

test('a container that gets a new ID continues, and must not stop under the new ID either', () => {
  const { sandbox, start, rename, end, violations } = story('of-the-user');
  sandbox(1);
  start(2);
  rename(3);
  expect(violations).toEqual([]);
  end(4);
  expect(violations).toEqual([`${POD} main was stopped without a cause`]);
});

test('a pod started from an outdated manifest may stop when its agent reads the change', async () => {
  const manifestUrl = { url: MANIFEST_URL, headers: [], everyMs: 20_000 };
  const node = await simulateNode({ seed: 1, invariants: [containersContinue], config: { manifestUrl } });
  const version = (label: string) => ({
    ...manifest('web'),
    metadata: { name: 'web', namespace: 'default', labels: { version: label } },
  });
  node.users.apply(version('1'), 'url');
  await node.advance(35_000);
  node.host.manifests.urlFault = 'slow';
  node.users.apply(version('2'), 'url');
  // The agent sends a request at 40 s and receives the second version at 48 s. It receives the third version with the
  // next response.
  await node.advance(7_000);
  node.users.apply(version('3'), 'url');
  await node.advance(60_000);
  expect(node.pods().map(({ metadata }) => metadata.labels)).toEqual([{ version: '3' }]);
  node.kill();
});

test('a pod is affected by a complete manifest, not by a partially written one', async () => {
  const node = new Simulation({ seed: 1 });
  const isTouchedSince = (ms: number) => node.actionLog.hasCauseSince(POD, ms, node.elapsed);
  node.apply(manifest('web'));
  await node.advance(1_000);
  const changed = { ...manifest('web'), metadata: { name: 'web', namespace: 'default', uid: 'another' } };
  node.perform({ kind: 'writeInParts', pod: changed, share: 0.9, restMs: 2_000 });
  await node.advance(1_000);
  expect(isTouchedSince(1)).toBe(false);
  expect(node.actionLog.mayBeWanted(POD, OF_ITS_MANIFEST)).toBe(true);
  await node.advance(2_000);
  expect(isTouchedSince(3_000)).toBe(true);
  expect(node.actionLog.mayBeWanted(POD, 'another')).toBe(true);
});

test('a partially written manifest is not completed after its pod was removed or its file replaced', async () => {
  const node = new Simulation({ seed: 1 });
  node.perform({ kind: 'writeInParts', pod: manifest('web'), share: 0.5, restMs: 1_000 });
  node.remove('web');
  node.perform({ kind: 'writeInParts', pod: manifest('other'), share: 0.5, restMs: 1_000 });
  node.apply({ ...manifest('other'), metadata: { name: 'other', labels: { whole: 'yes' } } });
  await node.advance(2_000);
  expect([...node.actionLog.wanted.keys()]).toEqual(['default/other-node-1']);
  expect(node.host.files.readFileSync(`${PATHS.manifests}/other.json`)).toContain('whole');
});

test.each([
  [{ keepContainers: true }, false],
  [{ keepContainers: true, renames: 1 }, false],
  [{ keepContainers: true, forgets: 1 }, true],
  [{ keepContainers: false }, true],
])('an outage of the runtime is a reason to stop only if the runtime has lost something: %j', (how, mayEnd) => {
  const node = new Simulation({ seed: 1 });
  node.perform({ kind: 'runtimeDown', downMs: 1, ...how });
  expect(node.actionLog.hasCauseSince(POD, 0, 0)).toBe(mayEnd);
});

test('a container of a preempted pod may stop', () => {
  const { sandbox, start, end, tell, violations } = story('of-the-user');
  sandbox(1);
  start(2);
  tell(2, 'Preempting', 'Preempted in order to admit critical pod');
  end(3);
  expect(violations).toEqual([]);
});

test('a container may stop if its pod was changed while the container was starting', () => {
  const { sandbox, ask, start, end, touch, violations } = story('of-the-user');
  sandbox(1);
  ask(2);
  touch(3);
  start(4);
  end(5);
  expect(violations).toEqual([]);
});

test('a container may stop if its pod was changed while the container ran', () => {
  const { sandbox, start, end, touch, violations } = story('of-the-user');
  sandbox(1);
  start(2);
  touch(3);
  end(4);
  expect(violations).toEqual([]);
});

test.each([
  [OF_ITS_MANIFEST, 0],
  ['of-the-user', 1],
])(
  'a container that starts after a change of its pod may stop if the change created a different pod: %s',
  (uid, told) => {
    const { sandbox, start, end, touch, violations } = story(uid);
    sandbox(1);
    touch(2);
    start(3);
    end(4);
    expect(violations).toHaveLength(told);
  },
);

test('a pod with a UID from the user may stop in any run once the agent reads that its name belongs to a different pod', () => {
  const { sandbox, start, end, touch, want, violations } = story('of-the-user');
  sandbox(1);
  touch(2);
  want('another-of-the-user');
  start(3);
  end(4);
  expect(violations).toEqual([]);
});

test('a change of a pod is a reason to stop only for a limited time', () => {
  const { sandbox, start, end, touch, show, violations } = story('of-the-user');
  sandbox(1);
  start(2);
  show({ containers: [] });
  touch(3);
  end(304);
  expect(violations).toHaveLength(1);
});

test.each([
  ['a minute after it read the change', { left: 4, heard: 540 }, 0],
  ['long after it read the change', { left: 4, heard: 10 }, 1],
  ['after the change had already expired when the previous agent stopped', { left: 310, heard: 540 }, 1],
])(
  'a change of a pod remains a reason to stop under the next agent for a limited time: %s',
  (_, { left, heard }, expected) => {
    const { sandbox, start, ask, end, touch, begin, show, setClock, violations } = story('of-the-user');
    sandbox(1);
    start(2);
    show({ containers: [] });
    touch(3);
    ask(left);
    begin();
    setClock(heard, 0);
    show({ containers: [] });
    end(600);
    expect(violations).toHaveLength(expected);
  },
);

test('the exit of a container is a reason to stop only for that container', () => {
  const { sandbox, start, end, touchContainer, violations } = story('of-the-user');
  sandbox(1);
  start(2);
  touchContainer('other', 3);
  end(4);
  expect(violations).toHaveLength(1);
  start(5);
  touchContainer('main', 6);
  end(7);
  expect(violations).toHaveLength(1);
});

const ENDS_ALL = {
  action: 'RestartAllContainers' as const,
  exitCodes: { operator: 'In' as const, values: [1] },
};

test('the manifest determines the containers of a pod until its status is published', () => {
  const { sandbox, start, end, touchContainer, write, violations } = story('of-the-user');
  write({ initContainers: [{ ...NAMED, restartPolicy: 'Always' }], containers: [OTHER] });
  sandbox(1);
  start(2);
  touchContainer('other', 3);
  end(4);
  expect(violations).toEqual([]);
});

test.each<[string, Partial<PodSpec>]>([
  ['where all restart with it', { containers: [{ ...NAMED, restartPolicyRules: [ENDS_ALL] }, OTHER] }],
  ['of a sidecar', { initContainers: [{ ...NAMED, restartPolicy: 'Always' }], containers: [OTHER] }],
])('the exit of another container is a reason for a stop %s, even before the container started', (_, spec) => {
  const { sandbox, start, end, touchContainer, show, violations } = story('of-the-user');
  sandbox(1);
  show({ containers: [], ...spec });
  touchContainer('other', 2);
  start(3);
  end(4);
  expect(violations).toEqual([]);
});

test.each([
  ['Unhealthy', 'Liveness probe failed: no', 0],
  ['Unhealthy', 'Startup probe errored and resulted in unknown state: no', 0],
  ['Unhealthy', 'Readiness probe failed: no', 1],
  ['FailedPostStartHook', 'PostStartHook failed', 0],
  ['Pulled', 'Liveness probe failed: no', 1],
])(
  'a container may be stopped for a failed liveness or startup probe or postStart hook, but for no other event: %s, %s',
  (reason, message, broken) => {
    const { sandbox, start, end, tell, violations } = story('of-the-user');
    sandbox(1);
    start(2);
    tell(3, reason, message);
    end(4);
    expect(violations).toHaveLength(broken);
  },
);

const BEGAN = '1970-01-01T00:00:00Z';

test.each([
  [7, 1],
  [8, 0],
])(
  'a pod with a deadline of ten seconds may stop shortly before the deadline but no sooner, e.g. after %i s',
  (second, broken) => {
    const { sandbox, start, end, show, violations } = story('of-the-user');
    sandbox(0);
    start(0);
    show({ containers: [NAMED], activeDeadlineSeconds: 10 }, BEGAN);
    end(second);
    expect(violations).toHaveLength(broken);
  },
);

test.each([
  ['the start time that a new agent reports', 0, 20, 0],
  ['no earlier time', 0, 17, 1],
  ['no time of a clock that was ahead', 5, 17, 1],
])('a deadline of twenty seconds counts from %s, even if the clock was set back since', (_, ahead, second, broken) => {
  const { sandbox, start, end, show, setClock, violations } = story('of-the-user');
  const spec = { containers: [NAMED], activeDeadlineSeconds: 20 };
  sandbox(0);
  start(0);
  show(spec, BEGAN);
  setClock(10, ahead);
  show(spec, '1970-01-01T00:00:01Z');
  setClock(11, -3_600);
  end(second);
  expect(violations).toHaveLength(broken);
});

test.each([
  ['is reported', true, 1],
  ['is not reported yet', false, 0],
])(
  'a passed deadline is no reason to stop by itself once the status of the pod is published: a start that %s',
  (_, isTold, broken) => {
    const { sandbox, start, end, show, tell, violations } = story('of-the-user');
    sandbox(0);
    start(0);
    if (isTold) show({ containers: [NAMED], activeDeadlineSeconds: 10 }, BEGAN);
    tell(2, 'DeadlineExceeded', 'Pod was active on the node longer than the specified deadline');
    end(3);
    expect(violations).toHaveLength(broken);
  },
);

test('a deadline that the agent has read and not yet published may terminate a pod', () => {
  const { sandbox, start, end, show, write, violations } = story('of-the-user');
  sandbox(0);
  start(0);
  show({ containers: [NAMED] }, BEGAN);
  write({ activeDeadlineSeconds: 10, containers: [container('main')] });
  end(11);
  expect(violations).toEqual([]);
});
