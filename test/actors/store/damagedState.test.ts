/** The agent starts despite any damaged state file, reports its path and what was expected, and replaces the file. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openNodeStore } from '../../../actors/store/durableFacts.ts';
import { MARK_FILE } from '../../../host/pods/podMark.ts';
import { simulatedNode } from '../../fakes/node.ts';
import { podWith } from '../../fakes/pods.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-damaged-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The kinds of damage to a file, with the report of each. */
const DAMAGES: readonly (readonly [what: string, put: (file: string) => Promise<unknown>, expected: string])[] = [
  ['a directory', (file) => mkdir(join(file, 'inner'), { recursive: true }), 'expected a file, found a directory'],
  ['garbage', (file) => writeFile(file, '\u0000garbage{'), 'expected one JSON object'],
  ['an empty file', (file) => writeFile(file, ''), 'expected one JSON object'],
  ['a dangling link', (file) => symlink('/nowhere/at/all', file), 'expected a file, found a dangling symbolic link'],
  ['a FIFO', async (file) => execFileSync('mkfifo', [file]), 'expected a file, found a special file'],
];

/** Returns the files of an agent with two pods, below the directory that contains its root directory and the logs. */
const filesOf = async (base: string): Promise<string[]> => {
  const entries = await readdir(base, { recursive: true, withFileTypes: true });
  return entries.filter((each) => each.isFile()).map(({ parentPath, name }) => relative(base, join(parentPath, name)));
};

/** Returns the kinds of facts, by the directories that a new store creates. */
async function kinds(): Promise<string[]> {
  const { store } = await openNodeStore(root);
  await store.close();
  return readdir(join(root, 'statelet'));
}

describe.each(DAMAGES)('%s at the path of a durable fact', (_what, put, expected) => {
  test('is reported by path for every kind of fact, renamed and replaced', async () => {
    const folders = await kinds();
    expect(folders.length).toBeGreaterThan(5);
    const files = folders.map((kind) => join(root, 'statelet', kind, 'key.json'));
    for (const file of files) await put(file);
    const { store, durable } = await openNodeStore(root);
    const reported = files.map((file) => `${file}: ${expected}; renamed to .corrupt`);
    expect([...durable.damaged].toSorted()).toEqual(reported.toSorted());
    await store.write('probes', 'key', []);
    await store.close();
    const again = await openNodeStore(root);
    expect(again.durable.damaged).toEqual([]);
    expect([...again.durable.probes]).toEqual([['key', []]]);
    await again.store.close();
  });

  test('is renamed to a further name if a directory has the first one', async () => {
    await kinds();
    const file = join(root, 'statelet', 'probes', 'key.json');
    await put(file);
    await mkdir(join(`${file}.corrupt`, 'inner'), { recursive: true });
    const { store, durable } = await openNodeStore(root);
    expect(durable.damaged).toEqual([`${file}: ${expected}; renamed to .corrupt-2`]);
    await store.close();
  });
});

test('a directory at the path of a temporary file stops neither the agent nor the next write', async () => {
  await kinds();
  const file = join(root, 'statelet', 'probes', 'key.json');
  await mkdir(join(`${file}.tmp`, 'inner'), { recursive: true });
  const { store } = await openNodeStore(root);
  await store.write('probes', 'key', []);
  await store.close();
  expect(await readdir(join(root, 'statelet', 'probes'))).toEqual(['key.json', 'key.json.tmp.corrupt']);
});

test.each(DAMAGES)(
  '%s at the path of any file of an agent leaves its pods running, and a damaged mark is reported',
  async (what, put) => {
    const adopted: string[] = [];
    const start = () =>
      simulatedNode({
        pods: [podWith('web'), podWith('beside')],
        parts: { onAdopted: (_pod, why) => void adopted.push(why) },
      });
    const first = await start();
    await first.advance('3s');
    const files = await filesOf(first.path());
    expect(files).toContain(`root/pods/web-uid/${MARK_FILE}`);
    for (const file of files.filter((each) => !each.includes('beside'))) {
      const node = await start();
      await node.advance('3s');
      node.killAgent();
      const damaged = node.path(file);
      await rm(damaged);
      await put(damaged);
      await node.startAgent();
      await node.advance('5s');
      expect(['web', 'beside'].map((name) => node.container(name).ready)).toEqual([true, true]);
      const reports = adopted
        .splice(0)
        .filter((why) => why.startsWith(`${damaged} is damaged, expected a JSON object`));
      // An empty mark is what a power cut leaves, and the stamp beside it still identifies the agent.
      const isReported = file === `root/pods/web-uid/${MARK_FILE}` && what !== 'an empty file';
      expect(reports).toHaveLength(isReported ? 1 : 0);
      node.remove('web', 'beside');
      await node.advance('40s');
      expect(node.has('web')).toBe(false);
    }
  },
);
