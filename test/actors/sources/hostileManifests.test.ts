/** Manifests that are designed to be hard to read. Each is rejected with a short message, and delays nothing else. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LocalObject } from '../../../actors/objects/cache/persistedSourceObjects.ts';
import { watchManifests } from '../../../actors/sources/fileSource.ts';
import { MAX_TEXT_BYTES } from '../../../actors/sources/manifest/manifestLimits.ts';
import { createManifestReader } from '../../../actors/sources/manifest/manifestReader.ts';
import type { ManifestSet } from '../../../actors/sources/manifest/manifestSet.ts';
import { MAX_FILE_BYTES } from '../../../actors/sources/yaml/textFile.ts';
import { yieldToEventLoop } from '../../../base/async/yieldToEventLoop.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';

const end = new AbortController();
const readManifests = createManifestReader({ clock: systemClock, signal: end.signal });
afterAll(() => end.abort());

let base: string;
let path: string;
let stop: AbortController;
let ended: Promise<void> | undefined;
let set: ManifestSet | undefined;
let objects: readonly LocalObject[] = [];
let wake: () => void;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'hostile-'));
  path = join(base, 'pods');
  await mkdir(path);
  stop = new AbortController();
  set = undefined;
  wake = () => {};
});

afterEach(async () => {
  stop.abort();
  await ended;
  await rm(base, { recursive: true });
});

function start(listIntervalMs = 20_000): void {
  ended = watchManifests({
    nextTurn: yieldToEventLoop,
    files: hostFiles,
    path,
    nodeName: 'node',
    storedManifests: new Map(),
    listIntervalMs,
    clock: systemClock,
    signal: stop.signal,
    readManifests,
    onState: () => {},
    onSet: (next, beside) => {
      [set, objects] = [next, beside.objects];
      wake();
    },
    onManifest: () => {},
  });
}

async function until(holds: (set: ManifestSet) => boolean): Promise<ManifestSet> {
  while (set === undefined || !holds(set)) await new Promise<void>((resolve) => (wake = resolve));
  return set;
}

const head = 'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec:\n  containers: [{name: a, image: b}]\n';
const good = 'apiVersion: v1\nkind: Pod\nmetadata: {name: good}\nspec: {containers: [{name: a, image: b}]}\n';
const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join('');
const laughs = many(9, (i) => `  - &l${i + 1} [${many(9, () => `*l${i}, `)}]\n`);
const merges = many(30, (i) => `a${i + 1}: &m${i + 1} {<<: [${`*m${i}, `.repeat(9)}]}\n`);
const chain = (length: number) => many(length, (i) => `a${i + 1}: &m${i + 1} {<<: *m${i}}\n`);

const hostile: [what: string, text: string, message: RegExp][] = [
  ['a megabyte of brackets', '['.repeat(MAX_FILE_BYTES), /^is nested deeper than 100 levels at line 1, column 101$/],
  [
    'a few brackets too many',
    `${head}  args: ${'['.repeat(200)}`,
    /^is nested deeper than 100 levels at line 6, column 107$/,
  ],
  ['deep nesting in JSON', `{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}`, /^is nested deeper than 100 levels$/],
  ['closing brackets', `${head}${']'.repeat(500_000)}`, /at line 6, column 1$/],
  ['dashes', '- '.repeat(MAX_FILE_BYTES / 2), /^is nested deeper than 100 levels at line 1, column 201$/],
  [
    '25,000 volumes',
    `${head}  volumes:\n${many(25_000, (i) => `  - {name: v${i}, emptyDir: {}}\n`)}`,
    /^has more than/,
  ],
  ['half a million words', `${head}  args: [${'a,'.repeat(400_000)}]`, /^has more than 400000 tokens/],
  ['20,000 unknown fields', `${head}${many(20_000, (i) => `  f${i}: 1\n`)}`, /^has more than 1000\d* (values|tokens)/],
  ['5,000 unknown fields', `${head}  volume: []\n${many(5_000, (i) => `  fie${i}: 1\n`)}  containerz: 1\n`, /^$/],
  [
    '5,000 fields of another type',
    `${head}  nodeSelector:\n${many(3_000, (i) => `    k${i}: [1]\n`)}`,
    /and 299\d more errors$/,
  ],
  ['a field as long as the file', `${head}  ${'x'.repeat(900_000)}: 1\n`, /at most 1024 characters/],
  ['a value as long as the file', `${head}  hostname: ${'x'.repeat(900_000)}\n`, /must be no more than 63 characters$/],
  ['aliases that grow', `a:\n  - &l0 [lol, lol]\n${laughs}`, /^has more than 100000 values/],
  ['merges that grow', `a0: &m0 {k: v}\n${merges}`, /^has more than 100000 values/],
  ['a long chain of merges', `a0: &m0 {a: b}\n${chain(400)}`, /^is nested deeper than 100 levels$/],
  ['a chain of large merges', `a0: &m0 {${many(200, (i) => `f${i}: 1, `)}}\n${chain(90)}`, /^has more than 10000 val/],
  ['an alias of itself', 'a: &a [*a]\n', /^anchor a contains itself/],
  ['a map that merges itself', 'a: &a {b: {<<: *a}}\n', /^anchor a contains itself/],
  ['thousands of aliases', `${head}  x: &a 1\n  args: [${'*a,'.repeat(20_000)}]\n`, /anchors and aliases$/],
  [
    'a long text that is used often',
    `${head}  x: &a ${'x'.repeat(50_000)}\n  y: [${'*a,'.repeat(90)}]\n`,
    /^has more than 1048576 characters/,
  ],
  ['many documents', '---\na\n'.repeat(10_000), /^has more than 1000 documents$/],
  [
    'wrong indentation on each line',
    `${head}${'  a: 1\n b: 2\n'.repeat(9_000)}`,
    /at line \d+, column \d+$|^is nested deeper/,
  ],
  ['invalid escapes', `${head}  hostname: "${'\\q'.repeat(200_000)}"\n`, /at line 6, column/],
];

describe('a hostile manifest is reported in one message of at most 1000 characters, and a pod beside it runs', () => {
  test.each(hostile)('%s', async (_what, text, message) => {
    await writeFile(join(path, 'bad.yaml'), text);
    await writeFile(join(path, 'good.yaml'), good);
    start();
    const { pods, problems, warnings } = await until(() => true);
    expect(pods.map(({ metadata }) => metadata.name)).toContain('good-node');
    const reported = [...problems, ...warnings];
    expect(reported).toHaveLength(1);
    const [{ path: field, message: said } = { path: '', message: '' }] = reported;
    expect(field.length + said.length).toBeLessThanOrEqual(1_000);
    if (problems.length > 0) expect(said).toMatch(message);
  });
});

test('an oversized file is reported with its size, and is read once it has shrunk', async () => {
  const file = join(path, 'large.yaml');
  await writeFile(file, `${good}# ${'x'.repeat(MAX_TEXT_BYTES)}`);
  start();
  const { problems } = await until(() => true);
  expect(problems).toMatchObject([{ file, message: 'the file has 10485852 bytes; the limit is 10485760' }]);
  await writeFile(file, good);
  expect((await until(({ pods }) => pods.length === 1)).problems).toEqual([]);
});

test('a Secret of the maximum size for an API server is accepted in every notation, and one byte more is rejected', async () => {
  const bytes = Buffer.alloc(2 ** 20, 7);
  const base64 = bytes.toString('base64');
  const secret = (name: string, field: string) => `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\n${field}\n`;
  const lines = base64.replaceAll(/.{1,64}/g, '        $&\n');
  await writeFile(join(path, 'line.yaml'), `${good}---\n${secret('line', `data: {k: ${base64}}`)}`);
  await writeFile(join(path, 'lines.yaml'), secret('lines', `data:\n    k: |\n${lines}`));
  const escaped = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'text' }, stringData: { k: String(bytes) } };
  await writeFile(join(path, 'text.json'), JSON.stringify(escaped));
  const more = { ...escaped, metadata: { name: 'more' }, stringData: { k: `${bytes}x` } };
  await writeFile(join(path, 'more.json'), JSON.stringify(more));
  start();
  const { pods, problems } = await until(() => true);
  expect(pods).toHaveLength(1);
  expect(problems).toMatchObject([
    { path: 'data', message: 'Too long: may not be more than 1048576 bytes (Secret default/more)' },
  ]);
  expect(objects.map(({ object: { name, data } }) => [name, data.get('k')?.length])).toEqual([
    ['line', bytes.length],
    ['lines', bytes.length],
    ['text', bytes.length],
  ]);
});

test('a large valid file yields its pod', async () => {
  await writeFile(join(path, 'large.yaml'), good.replace('image: b', `image: b, args: ['${'x'.repeat(500_000)}']`));
  start();
  const { pods, problems } = await until(() => true);
  expect(problems).toEqual([]);
  expect(pods[0]?.spec.containers[0]?.args?.[0]).toHaveLength(500_000);
});

describe('an entry that is not a regular file', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
  });

  test('is reported once: a directory, a FIFO, a socket, a device and a name that is not UTF-8', async () => {
    await mkdir(join(path, 'directory'));
    spawnSync('mkfifo', [join(path, 'fifo')]);
    spawnSync('mknod', [join(path, 'device'), 'c', '1', '5']);
    server = createServer().listen(join(path, 'socket'));
    await new Promise((resolve) => server?.once('listening', resolve));
    await writeFile(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0x61, 0xff, 0x2e])]), good);
    await writeFile(join(path, 'good.yaml'), good);
    start();
    const { pods, problems } = await until(() => true);
    expect(pods).toHaveLength(1);
    const reported = problems.map(({ file, message }) => `${file.slice(path.length + 1)}: ${message}`).sort();
    expect(reported).toEqual([
      'a\\xff.: the name is not UTF-8',
      ...(process.getuid?.() === 0 ? ['device: a device, not a file'] : []),
      'directory: a directory, not a file: subdirectories of the manifest path are not read',
      'fifo: a FIFO, not a file',
      'socket: a socket, not a file',
    ]);
  });

  test('is reported as long as it exists, however often it is listed', async () => {
    await mkdir(join(path, 'directory'));
    start();
    expect((await until(() => true)).problems).toHaveLength(1);
    await chmod(join(path, 'directory'), 0o700);
    await writeFile(join(path, 'good.yaml'), good);
    expect((await until(({ pods }) => pods.length === 1)).problems).toHaveLength(1);
  });

  test('is reported until its target exists if it is a dangling link', async () => {
    const [link, target] = [join(path, 'link.yaml'), join(path, '..', `${basename(path)}-target`)];
    await symlink(target, link);
    start(20);
    expect((await until(() => true)).problems).toMatchObject([
      { file: link, message: `a link to ${target}, which does not exist` },
    ]);
    await writeFile(target, good);
    try {
      const { pods } = await until(({ problems }) => problems.length === 0);
      expect(pods).toHaveLength(1);
    } finally {
      await rm(target);
    }
  });

  test('is no longer reported once it is removed', async () => {
    await mkdir(join(path, 'directory'));
    start(20);
    expect((await until(() => true)).problems).toHaveLength(1);
    await rm(join(path, 'directory'), { recursive: true });
    expect((await until(({ problems }) => problems.length === 0)).problems).toEqual([]);
  });
});

test('of two files with the same UID the first is used, and the other is reported', async () => {
  const withUid = (name: string) => good.replace('name: good', `name: ${name}, uid: one`);
  const [first, second] = [join(path, 'b.yaml'), join(path, 'a.yaml')];
  await writeFile(first, withUid('first'));
  start();
  await until(() => true);
  await writeFile(second, withUid('second'));
  const { pods, problems } = await until((now) => now.problems.length > 0);
  expect(pods.map(({ metadata }) => metadata.name)).toEqual(['first-node']);
  expect(problems).toEqual([
    {
      file: second,
      path: 'metadata.uid',
      message: `Duplicate value: "one": already used by the pod in ${first}`,
      pod: 'default/second-node',
      until: 'one of the two files changes',
    },
  ]);
  await rm(first);
  expect((await until((now) => now.problems.length === 0)).pods[0]?.metadata.name).toBe('second-node');
});
