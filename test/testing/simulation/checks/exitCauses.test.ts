import { expect, test } from '@jest/globals';
import type { RuntimeEffect } from '../../../../cri/simulated/objects/views.ts';
import { ExitCauses } from '../../../../testing/simulation/checks/exitCauses.ts';

/** What becomes of a container in its sandbox, and who did it. */
function story() {
  const endings = new ExitCauses();
  const clock = { elapsed: 0 };
  // No start is refused here.
  const around = { host: { clock } } as unknown as Parameters<ExitCauses['noteCall']>[0];
  const sandbox = { id: 'sandbox', podUid: 'pod' };
  const container = { id: 'main' };
  // As far as it is looked at.
  const effect = (kind: RuntimeEffect['kind']) => ({ kind, sandbox, container }) as unknown as RuntimeEffect;
  return {
    asks: (name: string, about: string) => endings.noteCall(around, { target: 'runtime', name, about, writes: true }),
    restart: () => endings.noteAgentStart(),
    startSandbox: () => endings.isUnrequestedSandbox({ kind: 'started', sandbox } as unknown as RuntimeEffect),
    start: () => endings.isUnrequestedExit(effect('started'), clock.elapsed),
    rename: () => {
      const formerId = container.id;
      container.id = 'renamed';
      endings.noteEffect(around, { ...effect('renamed'), formerId } as unknown as RuntimeEffect);
    },
    end: () => endings.isUnrequestedExit(effect('ended'), clock.elapsed),
    wait: (minutes: number) => void Object.assign(clock, { elapsed: minutes * 60_000 }),
  };
}

test('what ends that no agent has asked to end was ended by others', () => {
  const { start, end } = story();
  start();
  expect(end()).toBe(true);
});

test.each([
  ['stopContainer', 'main'],
  ['stopPodSandbox', 'sandbox'],
])('what ends after a %s was ended by an agent', (name, about) => {
  const { asks, start, end } = story();
  start();
  asks(name, about);
  expect(end()).toBe(false);
});

test('what was asked to end is so under another id, too', () => {
  const { asks, start, rename, end } = story();
  start();
  asks('stopContainer', 'main');
  rename();
  expect(end()).toBe(false);
});

test('what an agent starts in a sandbox that it could not stop before ends without that', () => {
  const { asks, start, end } = story();
  asks('stopPodSandbox', 'sandbox');
  start();
  expect(end()).toBe(true);
});

test.each([
  [5, false],
  [6, true],
])('what ends %i minutes after a stop that had no effect was ended by others: %s', (minutes, expected) => {
  const { asks, start, wait, end } = story();
  start();
  asks('stopContainer', 'main');
  wait(minutes);
  expect(end()).toBe(expected);
});

test('what starts although it was to be removed ends without that', () => {
  const { asks, start, end } = story();
  asks('removeContainer', 'main');
  start();
  expect(end()).toBe(true);
});

test('what was to be removed, and what was to be stopped before it has started, was ended by an agent', () => {
  const removed = story();
  removed.start();
  removed.asks('removeContainer', 'main');
  expect(removed.end()).toBe(false);
  const stopped = story();
  stopped.asks('stopContainer', 'main');
  stopped.start();
  expect(stopped.end()).toBe(false);
});

test('a sandbox that comes late, as an earlier agent had asked for it, comes from others', () => {
  const { asks, restart, startSandbox } = story();
  asks('runPodSandbox', 'pod');
  expect(startSandbox()).toBe(false);
  asks('runPodSandbox', 'pod');
  restart();
  expect(startSandbox()).toBe(true);
  asks('runPodSandbox', 'pod');
  expect(startSandbox()).toBe(false);
  expect(startSandbox()).toBe(true);
});
