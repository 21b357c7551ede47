import { expect, test } from '@jest/globals';
import type { EventSink } from '../../../actors/events/eventSink.ts';
import type { RuntimeEffect } from '../../../cri/simulated/views.ts';
import type { Watched } from '../../../simulation/invariants/invariant.ts';
import { toldOnce } from '../../../simulation/invariants/toldOnce.ts';

/** What is violated by the events of one container, by what happens to it at the runtime. */
function story() {
  const violations: string[] = [];
  const main = { podUid: 'web-uid', containerName: 'main', state: 'running' };
  const there: object[] = [];
  // As far as it is looked at.
  const clock = { elapsed: 0 };
  const watched = { host: { clock, containers: () => there } } as unknown as Watched;
  const following = toldOnce.follow(watched, (message) => void violations.push(message));
  return {
    violations,
    begin: () => following.onLifeBegan?.(),
    make: () => {
      there.push(main);
      following.onEffect?.({ kind: 'created', sandbox: {}, container: main } as unknown as RuntimeEffect);
    },
    end: () => {
      there.pop();
      following.onEffect?.({ kind: 'ended', sandbox: {}, container: main } as unknown as RuntimeEffect);
    },
    tell: (reason = 'Created', message = 'Container created') => {
      const involved = { uid: 'web-uid', namespace: 'default', name: 'web', fieldPath: 'spec.containers{main}' };
      following.onEvent?.({ reason, message, involved } as unknown as Parameters<EventSink>[0]);
    },
    call: (name: string, about: string) => following.onCall?.({ room: 'runtime', name, about, writes: false }),
    pass: (ms: number) => {
      clock.elapsed += ms;
    },
  };
}

test('each creation is told once, however much later', () => {
  const { begin, make, tell, violations } = story();
  begin();
  make();
  tell();
  make();
  tell();
  expect(violations).toEqual([]);
  tell();
  expect(violations).toEqual(['told twice: default/web Created: Container created']);
});

test('what an earlier agent had made the next one may tell once more', () => {
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

test.each(['Killing', 'BackOff'])('of each run %s is told once', (reason) => {
  const { begin, make, tell, violations } = story();
  begin();
  make();
  tell(reason, 'main');
  make();
  tell(reason, 'main');
  expect(violations).toEqual([]);
  tell(reason, 'main');
  expect(violations).toEqual([`told twice: default/web ${reason}: main`]);
});

test('of each of two that ran beside each other it is told that it is to end', () => {
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
  expect(violations).toEqual(['told twice: default/web Killing: main']);
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
  ['BackOff', 'Back-off pulling image "registry.local/web"', 'pullImage'],
])('%s is told once of each attempt to get an image: %s', (reason, message, name) => {
  const { begin, call, tell, pass, violations } = story();
  begin();
  for (let attempt = 0; attempt < 2; attempt += 1) {
    call(name, 'registry.local/web:latest');
    tell(reason, message);
    pass(10_000);
  }
  expect(violations).toEqual([]);
  tell(reason, message);
  expect(violations).toEqual([`told twice: default/web ${reason}: ${message}`]);
});

test('what two attempts would have been needed for is not told twice at one moment', () => {
  const { begin, call, tell, violations } = story();
  begin();
  call('imageStatus', 'web:1');
  call('imageStatus', 'web:1');
  tell('Pulling', 'Pulling image "web:1"');
  tell('Pulling', 'Pulling image "web:1"');
  expect(violations).toHaveLength(1);
});

test('of each attempt to mount a volume a failure is told once', () => {
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
