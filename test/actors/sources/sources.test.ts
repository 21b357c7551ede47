import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LocalObject } from '../../../actors/objects/cache/persistedSourceObjects.ts';
import { hostNetwork as network } from '../../../actors/services/http/hostNetwork.ts';
import { createSourcesFeed } from '../../../actors/sources/sources.ts';
import { type NodeStore, openNodeStore } from '../../../actors/store/durableFacts.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import type { NodeFact } from '../../../machines/shared/events/events.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { configText, documents, podText } from '../../fakes/manifests.ts';

let directory: string;
let store: NodeStore | undefined;
let ending: AbortController;

beforeEach(async () => {
  ending = new AbortController();
  directory = await mkdtemp(join(tmpdir(), 'sources-'));
  await mkdir(join(directory, 'pods'));
});

afterEach(async () => {
  ending.abort();
  await store?.close();
  await rm(directory, { recursive: true });
});

const path = (name: string) => join(directory, 'pods', name);

/** Replaces a file atomically, as a careful editor does. */
async function write(name: string, text: string): Promise<void> {
  await writeFile(join(directory, 'whole'), text);
  await rename(join(directory, 'whole'), path(name));
}

const manifest = (name: string, image = 'a') =>
  `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, uid: ${name}}, spec: {containers: [{name: main, image: ${image}}]}}`;

type State = Extract<NodeFact, { type: 'config.sourceChanged' }>['state'];
type Parts = Partial<Parameters<typeof createSourcesFeed>[0]>;

/** Watches the files or other sources, and collects the reported facts and problems. */
async function follow(
  parts: Parts = { staticPodPath: join(directory, 'pods') },
  deaf: (fact: NodeFact) => void = () => {},
) {
  const opened = await openNodeStore(join(directory, 'root'));
  store = opened.store;
  const facts: NodeFact[] = [];
  const states: State[] = [];
  const problems: string[] = [];
  const feed = createSourcesFeed({
    nodeName: 'node',
    clock: systemClock,
    jitter: () => 0,
    files: hostFiles,
    network,
    store: opened.store,
    durable: opened.durable,
    onError: () => {},
    onManifestProblem: (level, file, field) => problems.push(`${level} ${basename(file)} ${field}`),
    ...parts,
  });
  const send = (fact: NodeFact) => {
    deaf(fact);
    if (fact.type === 'config.sourceChanged') states.push(fact.state);
    else facts.push(fact);
  };
  const run = async () => feed(send, { signal: ending.signal });
  run().catch(() => {});
  const next = (count: number) => eventually(`${count} facts`, () => facts.length >= count && facts.slice(-1)[0]);
  const comesTo = (state: State['state']) =>
    eventually(`the source is ${state}`, () => states.find((each) => each.state === state));
  return { facts, states, problems, next, comesTo };
}

test('an edit of one of many files publishes only the change of that file', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `p${index}`);
  for (const name of names) await write(`${name}.yaml`, manifest(name));
  const { facts, next } = await follow();
  expect(await next(1)).toMatchObject({ type: 'config.podsListed', source: 'file', problems: [] });
  const [first] = facts;
  expect(first?.type === 'config.podsListed' && first.pods.length).toBe(100);
  await write('p7.yaml', manifest('p7', 'b'));
  const change = { type: 'config.podChanged', change: 'updated', pod: { metadata: { name: 'p7-node' } } };
  expect(await next(2)).toMatchObject(change);
  expect(JSON.stringify(facts[1]).length).toBeLessThan(2 * (JSON.stringify(first).length / 100));
  await rm(path('p8.yaml'));
  expect(await next(3)).toMatchObject({ type: 'config.podChanged', change: 'removed', uid: 'p8' });
  expect(facts).toHaveLength(3);
});

test('a problem is reported once as long as it persists, and again when it recurs', async () => {
  await write('a.yaml', manifest('a'));
  await write('b.yaml', 'kind: Nonsense');
  const { problems, next } = await follow();
  await next(1);
  expect(problems).toEqual(['error b.yaml kind']);
  await write('a.yaml', 'kind: Nonsense');
  expect(await next(2)).toMatchObject({ type: 'config.problemsChanged', file: path('a.yaml') });
  await write('a.yaml', manifest('a'));
  expect(await next(3)).toMatchObject({ problems: [], warnings: [] });
  await write('a.yaml', 'kind: Nonsense');
  await next(4);
  expect(problems).toEqual(['error b.yaml kind', 'error a.yaml kind', 'error a.yaml kind']);
});

describe('the state of a source', () => {
  test('is not published while the source merely continues to watch', async () => {
    await write('a.yaml', manifest('a'));
    const { states, next } = await follow({ staticPodPath: join(directory, 'pods'), fileCheckMs: 20 });
    await next(1);
    await write('a.yaml', manifest('a', 'b'));
    await next(2);
    await write('b.yaml', manifest('b'));
    await next(3);
    expect(states).toMatchObject([{ state: 'watching', place: join(directory, 'pods'), everyMs: 20 }]);
    expect(states[0]).not.toHaveProperty('until');
  });

  test('of a missing path has the time of the next attempt', async () => {
    const place = join(directory, 'later');
    const { states, comesTo } = await follow({ staticPodPath: place });
    const { since, until } = await comesTo('absent');
    expect(until).toBeGreaterThan(since);
    expect(until).toBeLessThanOrEqual(since + 1_000);
    await mkdir(place);
    await comesTo('watching');
    expect(states[0]?.state).toBe('absent');
  });

  test('of a path that cannot be listed has the reason and the time of the next attempt', async () => {
    await symlink(join(directory, 'loop'), join(directory, 'loop'));
    const { comesTo } = await follow({ staticPodPath: join(directory, 'loop') });
    const { since, until, failure } = await comesTo('failing');
    expect(failure).toMatchObject({ reason: 'FailedRead', message: expect.stringContaining('ELOOP') });
    expect(until).toBeGreaterThan(since);
  });

  test('is settling for half a second because of an empty file', async () => {
    await writeFile(path('a.yaml'), '');
    const { states, comesTo } = await follow();
    const { since, until = 0 } = await comesTo('settling');
    expect(until - since).toBeGreaterThan(0);
    // One time comes from the monotonic clock and the other from the wall clock, and each is rounded to a millisecond.
    expect(until - since).toBeLessThanOrEqual(502);
    await comesTo('watching');
    // The end of the wait is not always reported, which depends on microseconds.
    expect(states.flatMap(({ until: end }) => end ?? [])).toEqual([until]);
    expect(states.at(-1)).toMatchObject({ state: 'watching' });
  });

  test('has the same end time for a wait, however often it is checked', async () => {
    await writeFile(path('a.yaml'), '');
    let reads = 0;
    // Each reading of the clock is later than the previous one, by a varying amount.
    const clock = { ...systemClock, now: () => Date.now() + Math.floor((reads++) ** 2 / 8) };
    const { states, comesTo } = await follow({ staticPodPath: join(directory, 'pods'), clock });
    await comesTo('settling');
    for (const name of ['one', 'two', 'three']) {
      const before = reads;
      await writeFile(path(`.${name}`), '');
      await eventually('another look', () => reads > before);
    }
    await comesTo('watching');
    // With such a clock the source may be watching again before the wait has ended.
    expect(states.flatMap(({ until }) => until ?? [])).toEqual([states[0]?.until]);
  });

  test('of a URL that does not respond has the reason without secrets and the time of the next attempt', async () => {
    const manifestUrl = { url: 'http://user:secret@127.0.0.1:1/pods', headers: [], everyMs: 60_000 };
    const { comesTo } = await follow({ manifestUrl });
    const { until, since, failure, place } = await comesTo('failing');
    expect([place, failure?.reason]).toEqual(['http://127.0.0.1:1/pods', 'FailedRead']);
    expect(until).toBeGreaterThan(since);
    expect(JSON.stringify([failure, place])).not.toContain('secret');
  });

  test('is broken with the reason after an internal error', async () => {
    await write('a.yaml', manifest('a'));
    const { comesTo } = await follow({ staticPodPath: join(directory, 'pods') }, ({ type }) => {
      if (type === 'config.podsListed') throw new Error('a mistake');
    });
    expect(await comesTo('broken')).toMatchObject({ failure: { message: 'a mistake' } });
  });
});

test('the objects of a source are available before its pods are published, for files and URLs', async () => {
  const text = documents(podText('a'), configText('c', 'k: v'));
  await write('a.yaml', text);
  const server = createServer((_, response) => response.end(text)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  const reported: string[] = [];
  const localObjects = {
    start: () => {},
    previousObjects: async () => new Map(),
    put: (source: string, objects: readonly LocalObject[]) =>
      void reported.push(`${source}: ${objects.map(({ object }) => object.name)}`),
  };
  const manifestUrl = { url, headers: [], everyMs: 20_000 };
  const { next } = await follow({ staticPodPath: join(directory, 'pods'), manifestUrl, localObjects }, (fact) => {
    if (fact.type === 'config.podsListed') reported.push(`${fact.source}: listed`);
  });
  await next(2);
  server.close();
  for (const source of ['file', 'http'])
    expect(reported.filter((each) => each.startsWith(source))).toEqual([`${source}: c`, `${source}: listed`]);
});
