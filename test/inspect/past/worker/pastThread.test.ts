import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { NotInspected } from '../../../../inspect/inspected.ts';
import { PastThread } from '../../../../inspect/past/worker/pastThread.ts';
import { podWith } from '../../../fakes/pods.ts';
import { MACHINES, recordedNode } from '../../../recording/recorded.ts';
import { until } from '../../support/served.ts';

const threads: PastThread[] = [];

afterEach(() => {
  for (const thread of threads.splice(0)) thread.close();
});

const workers = () =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort' || kind === 'Worker').length;

async function recordedThread(options: Partial<ConstructorParameters<typeof PastThread>[0]> = {}) {
  const recorded = await recordedNode({ pods: [podWith('web')] });
  await recorded.live(1);
  const clock = new SimulatedClock();
  const thread = new PastThread({ path: recorded.directory, machines: MACHINES, mode: 'past', clock, ...options });
  threads.push(thread);
  return { recorded, clock, thread };
}

describe('the history thread', () => {
  test('responds after the latest inputs have been written', async () => {
    let written = 0;
    const { thread, recorded } = await recordedThread({
      beforeRequest: async () => {
        written += 1;
      },
    });
    const span = await thread.recorded();
    expect(span?.to).toBeGreaterThan(span?.from ?? 0);
    const moment = await thread.moment(8.64e15);
    expect(moment.pods).toMatchObject([{ name: 'web', phase: 'Running' }]);
    expect((await thread.story('web-uid', 0, 8.64e15)).lines.length).toBeGreaterThan(5);
    expect((await thread.rail(moment.at + 60_000)).to).toBe(moment.at + 60_000);
    expect((await thread.detail('pod/web-uid', moment.at)).answer).toContain('web');
    expect((await thread.object('web-uid', moment.at)).status).toMatchObject({ phase: 'Running' });
    expect((await thread.actorPast('pod/web-uid', moment.at)).taken.ways.length).toBeGreaterThan(0);
    expect(written).toBe(7);
    // The thread also reads what was recorded since.
    await recorded.live(1);
    expect((await thread.recorded())?.to).toBeGreaterThanOrEqual(span?.to ?? 0);
  });

  test('distinguishes missing objects from failures', async () => {
    const { thread, recorded } = await recordedThread();
    await expect(thread.object('constructor', 8.64e15)).rejects.toThrow(NotInspected);
    await expect(thread.detail('pod/nobody', 8.64e15)).rejects.toThrow(NotInspected);
    // Pass an invalid argument, which no caller does.
    const failed = await thread.story('web-uid', 0, 5n as never).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Error);
    expect(failed).not.toBeInstanceOf(NotInspected);
    // A torn write at the end of the file does not make the rest unreadable.
    const [file = ''] = await readdir(recorded.directory);
    await appendFile(join(recorded.directory, file), 'torn');
    expect((await thread.moment(8.64e15)).pods).toHaveLength(1);
    const none = new PastThread({ path: '/nothing/here', machines: '', mode: 'file', clock: new SimulatedClock() });
    threads.push(none);
    await expect(none.recorded()).rejects.toThrow(NotInspected);
  });

  test('runs only while it is used: it exits after a minute, and restarts on demand', async () => {
    await until(() => workers() === 0);
    const { clock, thread } = await recordedThread();
    expect(workers()).toBe(0);
    await thread.recorded();
    await clock.advance(59_000);
    await thread.recorded();
    await clock.advance(59_000);
    expect(clock.pending).toBe(1);
    expect(workers()).toBeGreaterThan(0);
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
    await until(() => workers() === 0);
    expect((await thread.moment(8.64e15)).pods).toHaveLength(1);
  });

  test('processes one request at a time, and a request that times out ends alone while the others move to a new thread', async () => {
    const timers = new Map<unknown, { readonly fn: () => void; readonly ms: number }>();
    const { thread } = await recordedThread({
      clock: {
        now: () => 0,
        monotonic: () => 0,
        setTimeout: (fn, ms) => {
          const id = {};
          timers.set(id, { fn, ms });
          return id;
        },
        clearTimeout: (id) => void timers.delete(id),
      },
    });
    await thread.recorded();
    expect([...timers.values()]).toMatchObject([{ ms: 60_000 }]);
    const outcomes = Promise.allSettled([thread.moment(0), thread.moment(8.64e15), thread.recorded()]);
    // All requests have been sent by now, and no response has arrived.
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    // Only the timeout of the first request is running, because a queued request cannot be late.
    expect([...timers.values()]).toMatchObject([{ ms: 60_000 }]);
    for (const { fn } of [...timers.values()]) fn();
    expect(await outcomes).toMatchObject([
      { status: 'rejected', reason: { message: 'no answer within 60 s' } },
      { status: 'fulfilled', value: { pods: [{ name: 'web' }] } },
      { status: 'fulfilled', value: { to: expect.any(Number) } },
    ]);
    expect(timers.size).toBe(1);
  });

  test('fails all requests once it is closed, and is not restarted', async () => {
    const { clock, thread } = await recordedThread();
    const outcomes = [thread.moment(0), thread.moment(0)].map((asked) =>
      asked.then(
        () => 'answered',
        ({ message }: Error) => message,
      ),
    );
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    thread.close();
    expect(await Promise.all(outcomes)).toEqual(['the page has been closed', 'the page has been closed']);
    await expect(thread.moment(0)).rejects.toThrow('the page has been closed');
    thread.close();
    expect(clock.pending).toBe(0);
    await until(() => workers() === 0);
  });

  test('accepts a limited number of requests', async () => {
    let written = 0;
    const { thread } = await recordedThread({
      beforeRequest: async () => {
        written += 1;
      },
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => thread.recorded()));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(12);
    expect(refused[0]).toMatchObject({ reason: { message: 'too much is asked of the recording at a time' } });
    // A rejected request must cause no work.
    expect(written).toBe(8);
    expect(await thread.recorded()).toBeDefined();
  });
});
