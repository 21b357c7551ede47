import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { profilesRoute } from '../../../kubelet-api/debug/profiles.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { ask, begin, serve } from '../logs/servedLogs.ts';

async function served() {
  const clock = new SimulatedClock();
  const { port } = await serve(profilesRoute({ clock, command: () => ['node', 'statelet', 'run'] }));
  const get = (name: string) => ask(port, `/debug/pprof/${name}`);
  const waits = (count: number) => eventually('it waits', () => clock.pending === count || undefined);
  /** Returns whether another profile can be recorded. */
  const isFree = async () => {
    const recording = get('allocs?seconds=1');
    await Promise.race([recording, waits(1)]);
    await clock.advance(1_000);
    return (await recording).status === 200;
  };
  return { clock, port, get, waits, isFree };
}

/** Uses CPU time that a profile shows. */
function busyWork(until: number): void {
  while (performance.now() < until) Math.sqrt(Math.random());
}

test('a CPU profile shows where the time was spent', async () => {
  const { clock, get, waits } = await served();
  const recording = get('profile?seconds=5');
  await waits(1);
  busyWork(performance.now() + 50);
  await clock.advance(4_999);
  await pause(10);
  expect(clock.pending).toBe(1);
  await clock.advance(1);
  const { status, headers, text } = await recording;
  expect(status).toBe(200);
  expect(headers['content-disposition']).toBe('attachment; filename="profile.cpuprofile"');
  const { nodes, samples, timeDeltas, startTime, endTime } = JSON.parse(text);
  expect(nodes.map(({ callFrame }: { callFrame: { functionName: string } }) => callFrame.functionName)).toContain(
    'busyWork',
  );
  expect(samples.length).toBe(timeDeltas.length);
  expect(endTime - startTime).toBeGreaterThan(50_000);
});

test('an allocation profile shows the allocations during it', async () => {
  const { clock, get, waits } = await served();
  const recording = get('allocs?seconds=1');
  await waits(1);
  const kept = Array.from({ length: 100_000 }, (_, at) => ({ at }));
  await clock.advance(1_000);
  const { text, headers } = await recording;
  expect(headers['content-disposition']).toContain('allocs.heapprofile');
  expect(JSON.parse(text)).toMatchObject({ head: expect.any(Object), samples: expect.any(Array) });
  expect(kept).toHaveLength(100_000);
});

test('C39: a heap snapshot requires system:masters, and contains no token that the agent stores', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'profiledProcess.ts')]);
  const [printed] = await once(child.stdout, 'data');
  const [, port = '', secrets = ''] = /^(\d+) (.*)\n$/.exec(String(printed)) ?? [];
  const path = '/debug/pprof/heap?group=system:masters';
  const refusals = [
    await ask(Number(port), '/debug/pprof/heap?group=system:authenticated'),
    // The API server uses its own identity for every user who is allowed to use its proxy.
    await ask(Number(port), path, { 'x-forwarded-for': '192.0.2.1' }),
    await ask(Number(port), path, { 'x-forwarded-uri': '/api/v1/nodes/node/proxy/debug/pprof/heap' }),
  ];
  const { status, headers, text } = await ask(Number(port), path);
  child.kill();
  expect(refusals.map((each) => each.status)).toEqual([403, 403, 403]);
  expect(refusals[0]?.text).toBe(
    'a heap snapshot contains Secrets: it is for members of system:masters, and somebody is not one\n',
  );
  expect(refusals[1]?.text).toContain('from the node itself, not through a proxy');
  expect(status).toBe(200);
  expect(headers).toMatchObject({ 'transfer-encoding': 'chunked', 'content-type': 'application/octet-stream' });
  const { snapshot, nodes, strings } = JSON.parse(text);
  expect(nodes.length).toBe(snapshot.node_count * snapshot.meta.node_fields.length);
  expect(strings).toContain('SimulatedClock');
  // The line that the process printed is a different string, which contains them all.
  const isStored = (value: string) => strings.some((text: string) => text === value || text.includes(`token=${value}`));
  const found = Object.entries<string>(JSON.parse(secrets)).filter(([, value]) => isStored(value));
  expect(found.map(([name]) => name)).toEqual(['inString']);
}, 60_000);

test('profiles contain names of functions, but no values', async () => {
  const { clock, get, waits } = await served();
  const value = `value-${Math.random()}`;
  for (const name of ['allocs', 'profile']) {
    const recording = get(`${name}?seconds=1`);
    await waits(1);
    const values = Array.from({ length: 10_000 }, (_, index) => ({ text: `${value}-${index}` }));
    await clock.advance(1_000);
    const { text, status } = await recording;
    expect([name, status, text.includes(value), values.length]).toEqual([name, 200, false, 10_000]);
  }
});

test('only one profile is recorded at a time, and a client that disconnects frees the slot', async () => {
  const { clock, port, get, waits, isFree } = await served();
  const first = begin(port, '/debug/pprof/profile', { connection: 'close' });
  first.catch(() => {});
  await waits(1);
  for (const [name, what] of [
    ['profile', 'CPU profiling'],
    ['allocs', 'heap profiling'],
    ['heap', 'a heap snapshot'],
  ] as const) {
    const { status, headers, text } = await get(name);
    expect([status, text]).toEqual([500, `Could not enable ${what}: CPU profiling already in use\n`]);
    expect(headers['x-go-pprof']).toBe('1');
  }
  await clock.advance(30_000);
  (await first).destroy();
  await eventually('it is over', isFree);
});

test('a recording ends when its client disconnects', async () => {
  const { port, get, waits, isFree } = await served();
  const controller = new AbortController();
  const gone = fetch(`http://127.0.0.1:${port}/debug/pprof/profile?seconds=3600`, { signal: controller.signal });
  await waits(1);
  controller.abort();
  await expect(gone).rejects.toThrow();
  await waits(0);
  expect((await get('cmdline')).status).toBe(200);
  await eventually('there is room', isFree);
});

test('cmdline, goroutine and an index are served as well, and unknown or overlong profiles are rejected', async () => {
  const { get } = await served();
  expect(await get('cmdline')).toMatchObject({ status: 200, text: 'node\0statelet\0run' });
  expect((await get('goroutine?debug=1')).text).toMatch(/^\d+ \w+$/m);
  const { text, headers } = await get('');
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  for (const name of ['allocs', 'cmdline', 'goroutine', 'heap', 'profile'])
    expect(text).toContain(`<a href='${name}'>`);
  for (const name of ['trace', 'mutex', 'heap/more', 'a%20b'])
    expect(await get(name)).toMatchObject({
      status: 404,
      text: 'Unknown profile: Node.js has allocs, cmdline, goroutine, heap, profile\n',
    });
  expect(await get('profile?seconds=14400')).toMatchObject({
    status: 400,
    text: "profile duration exceeds server's WriteTimeout\n",
  });
});
