import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { NotInspected } from '../../../inspect/inspected.ts';
import { createPast, type Past } from '../../../inspect/past/past.ts';
import { ActorPast } from '../../../inspect/past/replay/actorPast.ts';
import { History } from '../../../inspect/past/replay/history.ts';
import type { Snapshot } from '../../../inspect/protocol.ts';
import { RecordingFile } from '../../../recording/recordingFile.ts';
import { worldOf } from '../../../web/model/server/world.ts';
import { podRunning, podWith } from '../../fakes/pods.ts';
import { MACHINES } from '../../recording/recorded.ts';
import { emptySnapshot } from '../support/served.ts';
import { type Simulation, simulation } from '../support/simulation.ts';

let node: Simulation;
/** Snapshots of the live node at various times. */
let shown: Snapshot[];

/** Records two runs of the agent, in which one pod fails repeatedly and one is removed. */
beforeEach(async () => {
  node = await simulation({ pods: [podWith('web'), podRunning('bad', 'exit 3')] });
  shown = [];
  await advanceAndRecord('500ms', '2s', '7s', '10s', '41s');
  await node.restart();
  await advanceAndRecord('100ms', '5s', '13s', '90s');
  node.node.remove('web');
  await advanceAndRecord('1s', '1s', '40s');
});

async function advanceAndRecord(...durations: readonly string[]): Promise<void> {
  for (const duration of durations) {
    await node.node.advance(duration);
    shown.push(node.now());
    await node.recorder.flush();
    // A point in time includes everything that happens in the same millisecond, so the next change needs a later one.
    await node.node.advance('2ms');
  }
}

/**
 * Returns the parts of a snapshot that are equal live and in the past, i.e. all except the version and what only the
 * live node knows.
 */
const comparable = ({ node: { version: _, simulated: _s, loop: _l, ...bar }, pods, actors }: Snapshot) => ({
  bar,
  pods: Object.fromEntries(pods.map((pod) => [pod.uid, pod])),
  actors: Object.fromEntries(worldOf({ ...emptySnapshot, pods, actors }).actors),
});

describe('a point in time', () => {
  test('shows the state that the live agent showed then, across crashes and a restart', async () => {
    expect(shown.length).toBe(12);
    for (const live of shown) {
      const moment = await node.past.moment(live.at);
      expect(comparable(moment)).toEqual(comparable(live));
      // After the last recorded entry, the time is that of this entry.
      expect(moment.at).toBeLessThanOrEqual(live.at);
    }
  });

  test('before the recording shows its start, and after the recording its end', async () => {
    const recorded = await node.past.recorded();
    expect((await node.past.moment(0)).at).toBe(recorded?.from);
    const last = await node.past.moment(8.64e15);
    expect(last).toMatchObject({ mode: 'past', recorded });
    expect(last.pods.map(({ name }) => name)).toEqual(['bad']);
  });
});

describe('a history', () => {
  test('covers one pod or the node, between two points in time', async () => {
    const [from, to] = [shown[1]?.at ?? 0, shown[9]?.at ?? 0];
    for (const uid of ['bad-uid', 'web-uid', '']) {
      const { lines, ...story } = await node.past.story(uid, from, to);
      expect([story.from, story.to]).toEqual([from, to]);
      expect(lines.length).toBeGreaterThan(3);
      for (const line of lines) {
        expect(line.at).toBeGreaterThanOrEqual(from);
        expect(line.at).toBeLessThanOrEqual(to);
        const about = 'uid' in line && line.uid !== undefined ? line.uid : 'actor' in line ? podIn(line.actor) : uid;
        expect([line.kind, about]).toEqual([line.kind, uid]);
      }
      expect(lines.filter(({ kind }) => kind === 'began')).toHaveLength(1);
      expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).sort((one, other) => one - other));
    }
    expect((await node.past.story('constructor', 0, to)).lines.filter(({ kind }) => kind !== 'began')).toEqual([]);
  });

  test('starts with the states of its actors', async () => {
    for (const live of shown.slice(1)) {
      const { before } = await node.past.story('bad-uid', live.at + 1, live.at + 1);
      const states = new Map(before.map(({ actor, state, since, tag }) => [actor, { state, since, tag }]));
      const tags = ['steady', 'working', 'waiting', 'retrying', 'done', 'failed', 'broken'];
      for (const { path, state, since, tags: all, machine } of live.actors) {
        if (podIn(path) !== 'bad-uid' || !['pod', 'container'].includes(machine)) continue;
        expect([path, states.get(path)]).toEqual([path, { state, since, tag: all.find((tag) => tags.includes(tag)) }]);
      }
    }
  });
});

const podIn = (actor: string) => /^pod\/([^/]+)/.exec(actor)?.[1] ?? '';

test('the payload of a history line is requested separately', async () => {
  const { lines } = await node.past.story('bad-uid', 0, 8.64e15);
  const starts = lines.filter((line) => line.kind === 'entered').filter(({ source }) => source === 'startContainer');
  expect(starts.length).toBeGreaterThan(3);
  for (const { actor, source, at } of starts) {
    const { value, heldBack } = await node.past.entry(actor, source, at);
    expect([value, heldBack]).toEqual([expect.objectContaining({ name: 'main', image: expect.any(String) }), heldBack]);
  }
  await expect(node.past.entry('pod/bad-uid', 'startContainer', 5)).rejects.toThrow(NotInspected);
});

test('the timeline counts every entry, and shows each agent and each failure', async () => {
  const rail = await node.past.rail();
  const file = await RecordingFile.open(node.directory);
  let [entries, failures] = [0, 0];
  for (const member of file.members) {
    const lines = await file.lines(member);
    const isFailure = (text: string) =>
      /^\{"kind":"event".*"eventType":"Warning"/.test(text) || /"kind":"failure"/.test(text);
    entries += lines.filter((text) => /"kind":"(?:answer|failure|fact|elapsed)","source"/.test(text)).length;
    failures += lines.some(isFailure) ? 1 : 0;
  }
  expect(entries).toBeGreaterThan(50);
  expect(rail.counts.reduce((one, other) => one + other)).toBe(entries);
  expect(rail.failures).toHaveLength(failures);
  expect(failures).toBeGreaterThan(0);
  expect(rail.restarts).toHaveLength(2);
  expect(rail.from).toBe(rail.restarts[0]);
});

describe('a recorded actor', () => {
  const path = 'pod/bad-uid/container/main';

  test('has its runs with the numbers of the status, its transitions and its events', async () => {
    const at = shown.at(-1)?.at ?? 0;
    const { next, answer } = await node.past.detail(path, at);
    const { tried, taken, events = [] } = await node.past.actorHistory(path, at);
    const { restartCount } = node.node.container('bad');
    expect(tried[0]?.run).toBe(restartCount + 1);
    expect(tried.map(({ run }) => run)).toEqual(tried.map((_, index) => restartCount + 1 - index));
    // The first restart is immediate, and each further delay doubles. The next agent starts again from the initial
    // delay.
    const waits = tried.toReversed().map(({ waitedMs }) => waitedMs);
    expect(waits).toEqual([0, 10_000, 20_000, 30_000, 10_000, 20_000, 40_000, undefined]);
    expect(tried.every(({ exitCode, reason }) => exitCode === 3 && reason === 'Error')).toBe(true);
    expect(taken.ways.length).toBeGreaterThan(3);
    expect(taken.from).toBeLessThan(at);
    expect(events.map(({ reason }) => reason)).toContain('BackOff');
    expect(next.length).toBeGreaterThan(0);
    // The answer equals that of `explain`.
    expect(answer).toMatch(/^container main keeps failing: exit code 3 after \d+s; restarts at \d\d:\d\d:\d\d/);
  });

  test('that does not exist is reported as not found, and so is a missing pod', async () => {
    const { at = 0 } = shown.at(-1) ?? {};
    for (const nobody of ['pod/bad-uid/container/other', 'pod/constructor', '__proto__', 'pod//container/'])
      await expect(node.past.detail(nobody, at)).rejects.toThrow(NotInspected);
    await expect(node.past.object('constructor', at)).rejects.toThrow(NotInspected);
    expect(await node.past.object('bad-uid', at)).toMatchObject({
      status: { phase: 'Running' },
      manifest: { kind: 'Pod' },
    });
  });

  test('of a pod recreated with its UID has nothing of the earlier pod, live and in a replay', async () => {
    const live = await simulation({ pods: [podRunning('bad', 'exit 3')] });
    const inspected = () => live.page().inspected;
    await live.node.advance('47s');
    const before = await inspected().actorHistory(path);
    expect(before.tried.length).toBeGreaterThan(2);
    live.node.remove('bad');
    await live.node.advance('2s');
    live.node.apply(podRunning('bad', 'exit 3'));
    await live.node.advance('5s');
    const at = live.node.clock.now();
    const after = await inspected().actorHistory(path);
    const begins = at - 6_000;
    expect(after.tried.map(({ run }) => run)).toEqual([2, 1]);
    expect(after.tried.every(({ startedAt }) => startedAt >= begins)).toBe(true);
    expect(after.taken.ways.every(({ lastAt }) => lastAt >= begins)).toBe(true);
    const replayed = await live.past.actorHistory(path, at);
    expect(replayed.tried).toEqual(after.tried);
    expect(byWay(replayed)).toEqual(byWay(after));
    // The events of both pods refer to the same object, so the event recorder merges them.
    const { events = [] } = await inspected().detail(path);
    expect(events.map(({ reason }) => reason)).not.toContain('Killing');
    expect(events.every((event) => event.at >= begins)).toBe(true);
    expect(replayed.events?.map(({ reason, count }) => [reason, count])).toContainEqual(['Started', 2]);
    const { lines } = await live.past.story('bad-uid', 0, at);
    expect(lines.filter(({ kind }) => kind === 'gone')).toHaveLength(1);
  });

  test('of a recreated pod has no events that occurred only in the earlier pod', async () => {
    const live = await simulation({ pods: [podRunning('bad', 'exit 3')] });
    const reasons = async () => {
      const { events = [] } = await live.page().inspected.detail(path);
      return events.map(({ reason }) => reason);
    };
    await live.node.advance('20s');
    expect(await reasons()).toContain('BackOff');
    live.node.remove('bad');
    await live.node.advance('2s');
    live.node.apply(podRunning('bad', 'sleep 1d'));
    await live.node.advance('5s');
    expect(await reasons()).toContain('Started');
    expect(await reasons()).not.toContain('BackOff');
  });

  test('ignores a recording from before its pod was recreated', () => {
    const past = new ActorPast(path, 0);
    const tried = [{ run: 7, startedAt: 1, ranMs: 1, exitCode: 3, reason: 'Error' }];
    const earlier = { tried, taken: { from: 0, ways: [{ way: 'pending always 0', count: 1, lastAt: 1 }], stays: [] } };
    past.addStatus('bad-uid', { startTime: '2026-01-01T00:00:00Z' });
    past.addStatus('bad-uid', { startTime: '2026-01-01T00:01:00Z' });
    past.addEarlier(earlier);
    expect(past.history()).toMatchObject({ tried: [], taken: { ways: [] } });
    const unbroken = new ActorPast(path, 0);
    unbroken.addEarlier(earlier);
    expect(unbroken.history()).toMatchObject({ tried, taken: { ways: earlier.taken.ways } });
  });

  test('has the same transitions live as in a replay', async () => {
    const live = await simulation({ pods: [podRunning('bad', 'exit 3')] });
    const since = live.node.clock.now();
    await live.page().followed.historyOf(path);
    await live.node.advance('3m');
    const at = live.node.clock.now();
    const [told, replayed] = [await live.page().followed.historyOf(path), await live.past.actorPast(path, at)];
    expect(byWay(told)).toEqual(byWay(replayed));
    expect(told.taken.ways.length).toBeGreaterThan(5);
    expect(told.tried).toEqual(replayed.tried);
    expect([...told.taken.stays].sort(byState)).toEqual([...replayed.taken.stays].sort(byState));
    expect([told.taken.from, replayed.taken.from]).toEqual([since, since]);
    live.page().followed.forget();
    expect(live.observers()).toBe(0);
  });

  test('that is viewed late is shown from its start', async () => {
    const live = await simulation({ pods: [podRunning('bad', 'exit 3')] });
    await live.node.advance('47s');
    await live.page().followed.historyOf(path);
    await live.node.advance('100s');
    const [told, replayed] = [
      await live.page().followed.historyOf(path),
      await live.past.actorPast(path, live.node.clock.now()),
    ];
    expect(byWay(told)).toEqual(byWay(replayed));
    expect(told.tried).toEqual(replayed.tried);
    expect([...told.taken.stays].sort(byState)).toEqual([...replayed.taken.stays].sort(byState));
  });
});

const byState = (one: { readonly state: string }, other: { readonly state: string }) =>
  one.state < other.state ? -1 : 1;

const byWay = ({ taken }: Awaited<ReturnType<Past['actorPast']>>) =>
  Object.fromEntries(taken.ways.map(({ way, count }) => [way, count]));

describe('an unreadable recording', () => {
  const of = (path: string, machines = MACHINES) => createPast(new History({ path, machines }), 'file');

  test('is reported as not found: a missing path, and one with different state machines', async () => {
    await expect(of('/nothing/here').moment(0)).rejects.toThrow(
      /^no recording can be read: .*there is no such recording/,
    );
    await expect(of(node.directory, 'others').moment(0)).rejects.toThrow(NotInspected);
    await expect(of(node.directory, 'others').moment(0)).rejects.toThrow(/state machines differ/);
    // Reading lines requires no machine.
    expect((await of(node.directory, 'others').story('bad-uid', 0, 8.64e15)).lines.length).toBeGreaterThan(10);
  });

  test('is reported as not found if nothing was recorded', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'statelet-empty-'));
    expect(await of(empty).recorded()).toBeUndefined();
    await expect(of(empty).moment(0)).rejects.toThrow(NotInspected);
    await expect(of(empty).rail()).rejects.toThrow(NotInspected);
    expect((await of(empty).story('', 0, 1)).lines).toEqual([]);
    await rm(empty, { recursive: true });
  });

  test('is looked up once more if the recorder has removed a file meanwhile, and then reported', async () => {
    const missing = Object.assign(new Error('gone'), { code: 'ENOENT' });
    const failures: Error[] = [missing];
    const story = async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return { from: 0, to: 0, before: [], lines: [] };
    };
    // Nothing else of the history is called.
    const past = createPast({ story } as unknown as History, 'past');
    expect((await past.story('', 0, 1)).lines).toEqual([]);
    failures.push(missing, missing);
    await expect(past.story('', 0, 1)).rejects.toMatchObject({
      constructor: NotInspected,
      message: 'it is no longer recorded',
    });
    failures.push(missing, new Error('EIO'));
    await expect(past.story('', 0, 1)).rejects.toThrow('EIO');
  });

  test('that misses a ring file during the read misses only the content of that file', async () => {
    const [, second] = (await node.past.rail()).restarts;
    const [first = '', ...others] = (await readdir(node.directory)).toSorted();
    expect(others).toHaveLength(1);
    let isThere = true;
    const history = new History({
      path: node.directory,
      machines: MACHINES,
      decompress: (bytes, options) => {
        // The file is removed while an earlier file is being read.
        if (isThere) rmSync(join(node.directory, first));
        isThere = false;
        return gunzipSync(bytes, options);
      },
    });
    const moment = await createPast(history, 'past').moment(0);
    expect([isThere, moment.at, moment.recorded?.from]).toEqual([false, second, second]);
  });

  test('is not modified by reading it', async () => {
    const sizes = async () =>
      Promise.all((await readdir(node.directory)).map(async (name) => (await stat(join(node.directory, name))).size));
    const before = await sizes();
    await of(node.directory).moment(0);
    expect(await sizes()).toEqual(before);
  });
});
