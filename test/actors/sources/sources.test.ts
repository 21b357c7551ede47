import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '../../../actors/clock.ts';
import { sourcesFeed } from '../../../actors/sources/sources.ts';
import { type NodeStore, openNodeStore } from '../../../actors/store/durableFacts.ts';
import type { NodeFact } from '../../../machines/shared/events.ts';
import { eventually } from '../../e2e/support/eventually.ts';

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

/** Writes a file as a careful editor does, so that it is never half there. */
async function write(name: string, text: string): Promise<void> {
  await writeFile(join(directory, 'whole'), text);
  await rename(join(directory, 'whole'), path(name));
}

const manifest = (name: string, image = 'a') =>
  `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, uid: ${name}}, spec: {containers: [{name: main, image: ${image}}]}}`;

/** Follows the files; gives what was told so far, and which problems. */
async function follow() {
  const opened = await openNodeStore(join(directory, 'root'));
  store = opened.store;
  const facts: NodeFact[] = [];
  const problems: string[] = [];
  const feed = sourcesFeed({
    ...{ nodeName: 'node', clock: systemClock, store: opened.store, durable: opened.durable },
    ...{ staticPodPath: join(directory, 'pods'), onError: () => {} },
    onManifestProblem: (level, file, field) => problems.push(`${level} ${basename(file)} ${field}`),
  });
  const run = async () => feed((fact) => facts.push(fact), { signal: ending.signal });
  run().catch(() => {});
  const next = (count: number) => eventually(`${count} facts`, () => facts.length >= count && facts.slice(-1)[0]);
  return { facts, problems, next };
}

test('among many files what one edit is told by is as large as that one file', async () => {
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

test('a problem is told once for as long as it stands, and again when it is back', async () => {
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
