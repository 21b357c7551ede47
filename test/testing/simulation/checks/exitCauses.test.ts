import { expect, test } from '@jest/globals';
import type { RuntimeEffect } from '../../../../cri/simulated/objects/views.ts';
import { ExitCauses } from '../../../../testing/simulation/checks/exitCauses.ts';

/**
 * Creates a container in a sandbox, with functions that record what the agent requests and what happens to the
 * container.
 */
function story() {
  const endings = new ExitCauses();
  const clock = { elapsed: 0 };
  // `noteCall` reads only the clock in these tests, because no start is refused.
  const around = { host: { clock } } as unknown as Parameters<ExitCauses['noteCall']>[0];
  const sandbox = { id: 'sandbox', podUid: 'pod' };
  const container = { id: 'main' };
  // `ExitCauses` reads only these fields.
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

test('an exit that no agent has requested is attributed to others', () => {
  const { start, end } = story();
  start();
  expect(end()).toBe(true);
});

test.each([
  ['stopContainer', 'main'],
  ['stopPodSandbox', 'sandbox'],
])('an exit after a %s is attributed to the agent', (name, about) => {
  const { asks, start, end } = story();
  start();
  asks(name, about);
  expect(end()).toBe(false);
});

test('an exit requested by the agent is attributed to it under a new container ID as well', () => {
  const { asks, start, rename, end } = story();
  start();
  asks('stopContainer', 'main');
  rename();
  expect(end()).toBe(false);
});

test('the exit of a container that starts after a stop of its sandbox is not attributed to that stop', () => {
  const { asks, start, end } = story();
  asks('stopPodSandbox', 'sandbox');
  start();
  expect(end()).toBe(true);
});

test.each([
  [5, false],
  [6, true],
])('an exit %i minutes after a stop that had no effect is attributed to others: %s', (minutes, expected) => {
  const { asks, start, wait, end } = story();
  start();
  asks('stopContainer', 'main');
  wait(minutes);
  expect(end()).toBe(expected);
});

test('the exit of a container that starts after a request to remove it is attributed to others', () => {
  const { asks, start, end } = story();
  asks('removeContainer', 'main');
  start();
  expect(end()).toBe(true);
});

test('an exit after a request to remove the container, or to stop it before its start, is attributed to the agent', () => {
  const removed = story();
  removed.start();
  removed.asks('removeContainer', 'main');
  expect(removed.end()).toBe(false);
  const stopped = story();
  stopped.asks('stopContainer', 'main');
  stopped.start();
  expect(stopped.end()).toBe(false);
});

test('a sandbox that appears late for a request of an earlier agent is attributed to others', () => {
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
