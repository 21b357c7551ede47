import { expect, test } from '@jest/globals';
import type { EventSink } from '../../../../../actors/events/eventSink.ts';
import type { PodChange } from '../../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect } from '../../../../../cri/simulated/objects/views.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { eventsOnce } from '../../../../../testing/simulation/invariants/statuses/eventsOnce.ts';

/**
 * Returns functions that record events of one container and what happens to it in the runtime, with the resulting
 * violations.
 */
function story() {
  const violations: string[] = [];
  const main = { id: 'main-id', podUid: 'web-uid', containerName: 'main', state: 'running' };
  const there: object[] = [];
  const sandbox = { podUid: 'web-uid' };
  // The invariant reads only these fields.
  const clock = { elapsed: 0 };
  let found = [{ id: 'sandbox', podUid: 'web-uid' }];
  const sandboxes = () => found;
  const watched = { host: { clock, sandboxes, containers: () => there } } as unknown as Watched;
  const following = eventsOnce.follow(watched, (message) => void violations.push(message));
  return {
    violations,
    begin: () => following.onAgentStarted?.(),
    make: () => {
      there.push(main);
      following.onEffect?.({ kind: 'created', sandbox, container: main } as unknown as RuntimeEffect);
    },
    end: () => {
      there.pop();
      following.onEffect?.({ kind: 'ended', sandbox, container: main } as unknown as RuntimeEffect);
    },
    rename: (id: string) => {
      const container = { ...main, id };
      there.splice(0, 1, container);
      following.onEffect?.({ kind: 'renamed', sandbox, container, formerId: main.id } as unknown as RuntimeEffect);
    },
    tell: (reason = 'Created', message = 'Container created') => {
      const involved = { uid: 'web-uid', namespace: 'default', name: 'web', fieldPath: 'spec.containers{main}' };
      following.onEvent?.({ reason, message, involved } as unknown as Parameters<EventSink>[0]);
    },
    show: (...containers: string[]) => {
      const pod = { spec: { containers: containers.map((name) => ({ name })) } };
      following.onStatus?.({ uid: 'web-uid', removed: false, pod } as unknown as PodChange);
    },
    loseSandbox: () => {
      found = [];
    },
    makeSandbox: () => following.onEffect?.({ kind: 'created', sandbox } as unknown as RuntimeEffect),
    remove: () => following.onStatus?.({ uid: 'web-uid', removed: true } as unknown as PodChange),
    call: (name: string, about: string, target: 'runtime' | 'network' = 'runtime') =>
      following.onCall?.({ target, name, about, writes: false }),
    pass: (ms: number) => {
      clock.elapsed += ms;
    },
  };
}

test('each creation may be reported once, however late', () => {
  const { begin, make, tell, violations } = story();
  begin();
  make();
  tell();
  make();
  tell();
  expect(violations).toEqual([]);
  tell();
  expect(violations).toEqual(['recorded twice: default/web Created: Container created']);
});

test('the next agent may report a container that an earlier agent created once more', () => {
  const { begin, make, tell, violations } = story();
  begin();
  make();
  tell();
  begin();
  tell();
  expect(violations).toEqual([]);
  tell();
  expect(violations).toHaveLength(1);
});

test.each(['Killing', 'BackOff', 'FailedPostStartHook'])('%s may be reported once for each run', (reason) => {
  const { begin, make, tell, violations } = story();
  begin();
  make();
  tell(reason, 'main');
  make();
  tell(reason, 'main');
  expect(violations).toEqual([]);
  tell(reason, 'main');
  expect(violations).toEqual([`recorded twice: default/web ${reason}: main`]);
});

test('the stop of each of two concurrent runs may be reported', () => {
  const { begin, make, end, tell, violations } = story();
  begin();
  make();
  make();
  for (let runs = 2; runs > 0; runs -= 1) {
    tell('Killing', 'main');
    end();
  }
  expect(violations).toEqual([]);
  tell('Killing', 'main');
  expect(violations).toEqual(['recorded twice: default/web Killing: main']);
});

test.each([
  ['Pulling', 'Pulling image "registry.local/web"', 'imageStatus'],
  ['Pulled', 'Container image "registry.local/web" already present on machine', 'imageStatus'],
  ['Pulled', 'Successfully pulled image "registry.local/web" in 1s (1s including waiting).', 'pullImage'],
  [
    'Failed',
    'Failed to pull image "registry.local/web": reading "registry.local/web:latest": no such host',
    'pullImage',
  ],
  ['Failed', 'Failed to pull image "registry.local/web": Failed to record image pull intent: EIO', 'imageStatus'],
  ['Failed', 'Failed to pull image "registry.local/web": secret "pull": no configuration', 'imageStatus'],
  ['BackOff', 'Back-off pulling image "registry.local/web"', 'imageStatus'],
])('%s may be reported once for each attempt to get an image: %s', (reason, message, name) => {
  const { begin, call, tell, pass, violations } = story();
  begin();
  for (let attempt = 0; attempt < 2; attempt += 1) {
    call(name, 'registry.local/web:latest');
    tell(reason, message);
    pass(10_000);
  }
  expect(violations).toEqual([]);
  tell(reason, message);
  expect(violations).toEqual([`recorded twice: default/web ${reason}: ${message}`]);
});

test('an event that requires two attempts must not be reported twice at the same time', () => {
  const { begin, call, tell, violations } = story();
  begin();
  call('imageStatus', 'web:1');
  call('imageStatus', 'web:1');
  tell('Pulling', 'Pulling image "web:1"');
  tell('Pulling', 'Pulling image "web:1"');
  expect(violations).toHaveLength(1);
});

test('a failure may be reported once for each attempt to mount a volume', () => {
  const { begin, tell, pass, violations } = story();
  const fail = (volume: string) => tell('FailedMount', `MountVolume.SetUp failed for volume "${volume}" : no room`);
  begin();
  fail('a');
  fail('b');
  pass(500);
  fail('a');
  expect(violations).toEqual([]);
  pass(499);
  fail('a');
  expect(violations).toHaveLength(1);
});

test('no event may be reported twice with the same message for the same object at the same time', () => {
  const { begin, tell, pass, violations } = story();
  begin();
  const fail = () => tell('Failed', 'Error: failed to create containerd task');
  fail();
  tell('Failed', 'Error: another');
  pass(1);
  fail();
  expect(violations).toEqual([]);
  fail();
  expect(violations).toEqual(['recorded twice: default/web Failed: Error: failed to create containerd task']);
});

test('the store may recover twice at the same time from two failures', () => {
  const { begin, tell, violations } = story();
  begin();
  const recover = () => tell('StoreRecovered', 'The state of the node is being saved again');
  for (const folder of ['allocations', 'statuses']) {
    tell('StoreFailed', `${folder} was not synced within 2s`);
    recover();
  }
  expect(violations).toEqual([]);
  recover();
  expect(violations).toHaveLength(1);
});

test('a condition of the Node may be reported at the same time by the registration and by the first status', () => {
  const { begin, tell, violations } = story();
  begin();
  const press = () => tell('NodeHasDiskPressure', 'Node node-1 status is now: NodeHasDiskPressure');
  press();
  press();
  expect(violations).toEqual([]);
  press();
  expect(violations).toHaveLength(1);
});

test('a container that waits for several images may report each with the same message', () => {
  const { begin, tell, call, violations } = story();
  begin();
  for (const image of ['a:1', 'b:1']) {
    call('imageStatus', image);
    tell('BackOff', `Back-off pulling image "${image}"`);
    tell('Failed', 'Error: ImagePullBackOff');
  }
  expect(violations).toEqual([]);
  tell('Failed', 'Error: ImagePullBackOff');
  expect(violations).toHaveLength(1);
});

test('an unresponsive runtime may be reported at most once for each container of a pod and for its sandbox', () => {
  const { begin, show, tell, pass, violations } = story();
  begin();
  show('main', 'helper');
  const fail = () => tell('FailedSync', 'error determining status: too busy');
  for (let asked = 0; asked < 3; asked += 1) fail();
  pass(1);
  fail();
  expect(violations).toEqual([]);
  for (let asked = 0; asked < 3; asked += 1) fail();
  expect(violations).toHaveLength(1);
});

test.each(['DeadlineExceeded', 'Preempting'])(
  '%s may be reported once for each pod until the pod is gone',
  (reason) => {
    const { begin, remove, tell, pass, violations } = story();
    begin();
    tell(reason, 'why');
    remove();
    pass(1);
    tell(reason, 'why');
    expect(violations).toEqual([]);
    pass(1);
    tell(reason, 'why');
    expect(violations).toHaveLength(1);
  },
);

test.each(['DeadlineExceeded', 'Preempting'])('%s may be reported again for a pod that has started again', (reason) => {
  const { begin, make, tell, pass, violations } = story();
  begin();
  tell(reason, 'why');
  make();
  pass(1);
  tell(reason, 'why');
  expect(violations).toEqual([]);
  pass(1);
  tell(reason, 'why');
  expect(violations).toHaveLength(1);
});

test('SandboxChanged may be reported once for each sandbox, and for each attempt to stop it', () => {
  const { begin, makeSandbox, tell, call, pass, violations } = story();
  const change = () => {
    pass(1);
    tell('SandboxChanged', 'changed');
  };
  begin();
  change();
  makeSandbox();
  change();
  call('stopPodSandbox', 'sandbox');
  change();
  expect(violations).toEqual([]);
  change();
  expect(violations).toHaveLength(1);
});

test('SandboxChanged may be reported again after a request to stop a sandbox that the runtime has lost', () => {
  const { begin, loseSandbox, tell, call, pass, violations } = story();
  begin();
  tell('SandboxChanged', 'changed');
  loseSandbox();
  call('stopPodSandbox', 'sandbox');
  pass(1);
  tell('SandboxChanged', 'changed');
  expect(violations).toEqual([]);
});

test('a resize may be reported once, and again after a different one', () => {
  const { begin, tell, pass, violations } = story();
  const resize = (words: string) => {
    pass(1);
    tell('ResizeStarted', words);
  };
  begin();
  for (const words of ['to 1', 'to 2', 'to 1']) resize(words);
  expect(violations).toEqual([]);
  resize('to 1');
  expect(violations).toHaveLength(1);
});

test.each(['failed', 'warning'])(
  'a probe result (%s) may be reported once for each attempt, whatever its message',
  (word) => {
    const { begin, make, tell, call, pass, violations } = story();
    const told = (kind: string, found: string) => tell('Unhealthy', `${kind} probe ${word}: ${found}`);
    begin();
    make();
    call('execSync', 'main-id');
    told('Liveness', 'no');
    told('Readiness', 'no');
    call('execSync', 'main-id');
    told('Liveness', 'no');
    call('dial', '10.0.0.1:80', 'network');
    told('Liveness', 'no');
    expect(violations).toEqual([]);
    call('execSync', 'another-id');
    pass(10_000);
    told('Liveness', 'not at all');
    expect(violations).toHaveLength(1);
  },
);

test('a probe that cannot be attempted makes no call, but may be reported once per period', () => {
  const { begin, tell, pass, violations } = story();
  const told = () => tell('Unhealthy', 'Liveness probe errored and resulted in unknown state: no such port');
  begin();
  told();
  pass(1_000);
  told();
  expect(violations).toEqual([]);
  told();
  expect(violations).toHaveLength(1);
});

test('a probe may use the previous ID of a container that has a new one', () => {
  const { begin, make, rename, tell, call, violations } = story();
  const told = () => tell('Unhealthy', 'Liveness probe errored and resulted in unknown state: not found');
  begin();
  make();
  call('execSync', 'main-id');
  told();
  rename('new-id');
  call('execSync', 'main-id');
  told();
  expect(violations).toEqual([]);
});
