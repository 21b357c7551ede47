import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { createSystemdNotifier, readNotifyOptions } from '../../../node/start/systemd.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { notifySocket } from '../../support/notifySocket.ts';

describe('C45: the environment variables of systemd', () => {
  test.each<[Record<string, string>, ReturnType<typeof readNotifyOptions>]>([
    [{}, undefined],
    [{ NOTIFY_SOCKET: '/run/n' }, { socket: '/run/n' }],
    [
      { NOTIFY_SOCKET: '@n', WATCHDOG_USEC: '30000000' },
      { socket: '@n', watchdogMs: 30_000 },
    ],
    [
      { NOTIFY_SOCKET: '@n', WATCHDOG_USEC: '1000001', WATCHDOG_PID: '7' },
      { socket: '@n', watchdogMs: 1_000.001 },
    ],
    // The watchdog belongs to a different process.
    [{ NOTIFY_SOCKET: '@n', WATCHDOG_USEC: '1', WATCHDOG_PID: '8' }, { socket: '@n' }],
    [{ WATCHDOG_USEC: '30000000' }, { socket: undefined, watchdogMs: 30_000 }],
  ])('%o', (environment, wants) => expect(readNotifyOptions(environment, 7)).toEqual(wants));

  test.each<[Record<string, string>, string]>([
    [{ WATCHDOG_USEC: '1000000' }, 'WATCHDOG_USEC: 1s is too short, WatchdogSec has to be more than 1s'],
    [{ WATCHDOG_USEC: '0' }, 'WATCHDOG_USEC: expected a positive number of microseconds, got "0"'],
    [{ WATCHDOG_USEC: '-5' }, 'WATCHDOG_USEC: expected a positive number of microseconds, got "-5"'],
    [{ WATCHDOG_USEC: '9', WATCHDOG_PID: 'x' }, 'WATCHDOG_PID: expected the id of a process, got "x"'],
  ])('%o is rejected', (environment, why) => expect(() => readNotifyOptions(environment, 7)).toThrow(why));
});

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function listener(kind: 'path' | 'abstract') {
  const directory = mkdtempSync(join(tmpdir(), 'notify-'));
  const name = kind === 'path' ? join(directory, 'socket') : `@${directory}`;
  const heard = await notifySocket(name);
  ends.push(
    () => rmSync(directory, { recursive: true }),
    () => heard.end(),
  );
  return { name, ...heard };
}

function startNotifier(socket: string | undefined, checks: Parameters<typeof createSystemdNotifier>[1]['checks'] = []) {
  const clock = new SimulatedClock();
  const said: string[] = [];
  const say = (...words: readonly unknown[]) => void said.push(String(words.at(-1)));
  const logger = { warn: say, error: say };
  return { clock, said, systemd: createSystemdNotifier({ socket, watchdogMs: 20_000 }, { clock, logger, checks }) };
}

test.each(['path', 'abstract'] as const)(
  'systemd is notified of the start and the stop over a real datagram socket (%s)',
  async (kind) => {
    const { name, words } = await listener(kind);
    const { systemd, said } = startNotifier(name);
    await systemd.ready();
    await eventually('the watchdog is fed at once', () => words()[1]);
    await systemd.stopping();
    expect(words()).toEqual(['READY=1', 'WATCHDOG=1', 'STOPPING=1']);
    expect(said).toEqual([]);
  },
);

test('C45: the watchdog is notified at half its timeout unless the agent is unhealthy, and not after the stop', async () => {
  const { name, words } = await listener('path');
  let trouble: string | undefined;
  const runCheck = () => {
    if (trouble !== undefined) throw new Error(trouble);
  };
  const { systemd, clock, said } = startNotifier(name, [{ name: 'syncloop', runCheck }]);
  await systemd.ready();
  const fed = (times: number) => eventually('it is fed', () => words().length === 1 + times || undefined);
  await fed(1);
  await clock.advance(9_999);
  expect(words()).toHaveLength(2);
  await clock.advance(1);
  await fed(2);
  trouble = 'idle';
  await clock.advance(10_000);
  expect(said).toEqual(['the watchdog of systemd is not notified, because the agent is unhealthy: syncloop: idle']);
  trouble = undefined;
  await clock.advance(10_000);
  // The timer that was pending must have sent one more notification.
  await fed(3);
  await systemd.stopping();
  expect(clock.pending).toBe(0);
  await clock.advance(60_000);
  expect(words().slice(-2)).toEqual(['WATCHDOG=1', 'STOPPING=1']);
});

test('a notification that cannot be sent is reported, and does not stop the agent', async () => {
  const { systemd, said } = startNotifier('/nowhere/at/all');
  await systemd.ready();
  await systemd.stopping();
  expect(said[0]).toMatch(/^cannot notify systemd of READY=1: .*No such file or directory/);
  expect(said.at(-1)).toContain('cannot notify systemd of STOPPING=1');
  const lacking = startNotifier(undefined);
  await lacking.systemd.ready();
  expect(lacking.said[0]).toBe('cannot notify systemd of READY=1: NOTIFY_SOCKET is not set');
  await lacking.systemd.stopping();
});
