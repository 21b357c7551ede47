/** A ring and its files after damage by other programs, a crash or a disk. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { formatStory } from '../../recording/formatStory.ts';
import { readRecordingBytes } from '../../recording/readRecordingBytes.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { findStretches } from '../../recording/stretches.ts';
import { podRunning, podWith } from '../fakes/pods.ts';
import { checkedStretches, recordedNode } from './recorded.ts';

const KIB = 2 ** 10;
const makePipe = (path: string) => promisify(execFile)('mkfifo', [path]);

/** Creates a recording of one run of an agent in several files, which was closed normally. */
async function recordInFiles() {
  const recorded = await recordedNode({
    sizeBytes: 128 * KIB,
    pods: [podRunning('bad', 'exit 1')],
    config: { crashLoop: { baseMs: 1_000, maxMs: 1_000 } },
  });
  for (let part = 0; part < 24; part += 1) {
    await recorded.node.advance('3s');
    await recorded.recorder.flush();
  }
  await recorded.recorder.close();
  const names = (await readdir(recorded.directory)).toSorted();
  expect(names.length).toBeGreaterThan(2);
  const paths = names.map((name) => join(recorded.directory, name));
  return { ...recorded, paths, second: paths[1] ?? '' };
}

const differencesIn = async (path: string) => (await checkedStretches(path)).map(({ difference }) => difference);

async function storyIn(path: string, until = Number.POSITIVE_INFINITY): Promise<string[]> {
  const story: string[] = [];
  for await (const line of formatStory(await RecordingFile.open(path), { until })) story.push(line);
  return story;
}

test('a file that is missing in the middle ends the recording before it, also in a dump', async () => {
  const { directory, second } = await recordInFiles();
  expect(await differencesIn(directory)).toEqual([undefined]);
  await rm(second);
  expect(await differencesIn(directory)).toEqual([undefined, undefined]);
  const parts: Uint8Array[] = [];
  for await (const part of (await readRecordingBytes(directory)) ?? []) parts.push(part);
  const dump = join(directory, '..', 'dump.gz');
  await writeFile(dump, Buffer.concat(parts));
  expect(await differencesIn(dump)).toEqual([undefined, undefined]);
});

test.each([
  ['a header', 0],
  ['a body', 50],
])('damage in the middle of %s affects only the data that belongs to it, even in a single file', async (_, within) => {
  const { directory, paths, second } = await recordInFiles();
  const { members } = await RecordingFile.open(second);
  const { offset = 0, size = 0 } = members.at(-1) ?? {};
  const bytes = await readFile(second);
  bytes.fill(0, offset + within, offset + size);
  await writeFile(second, bytes);
  const dump = join(directory, '..', 'dump.gz');
  await writeFile(dump, Buffer.concat(await Promise.all(paths.map((path) => readFile(path)))));
  for (const path of [directory, dump]) {
    const stretches = await findStretches(await RecordingFile.open(path));
    if (within === 0) {
      expect(await differencesIn(path)).toEqual([undefined, undefined]);
      expect(stretches).toHaveLength(2);
    } else await expect(checkedStretches(path)).rejects.toThrow(`: damaged at byte `);
    expect((await storyIn(path)).at(-1)).toMatch(/ {2}agent: stopped$/);
  }
});

test('the story continues after a damaged part in the middle of a file, and reports it', async () => {
  const { second } = await recordInFiles();
  const { members } = await RecordingFile.open(second);
  const [, { offset = 0, size = 0 } = {}] = members;
  expect(members.length).toBeGreaterThan(2);
  const bytes = await readFile(second);
  bytes.fill(0, offset + 50, offset + size);
  await writeFile(second, bytes);
  const story = await storyIn(second);
  expect(story.filter((line) => line.startsWith(`? ${second}: damaged at byte ${offset}: `))).toHaveLength(1);
  expect(story.findIndex((line) => line.startsWith('? '))).toBeLessThan(story.length - 10);
});

test('a path with the name of a ring file that is not a regular file is left alone, and never read', async () => {
  const { directory, live, errors, recorder } = await recordedNode({ pods: [podWith('web')] });
  await mkdir(directory, { recursive: true });
  await mkdir(join(directory, '00000001.jsonl.gz'));
  await symlink('/dev/zero', join(directory, '00000002.jsonl.gz'));
  await makePipe(join(directory, '00000003.jsonl.gz'));
  await writeFile(join(directory, '99999999.jsonl.gz'), 'no recording');
  await live(2);
  await recorder.close();
  expect(errors).toEqual([]);
  const added = (await readdir(directory)).filter((name) => !/^(0000000[123]|99999999)\./.test(name));
  // The new file has the next number, and is read last.
  expect(added).toEqual(['100000000.jsonl.gz']);
  expect(await differencesIn(directory)).toEqual([undefined]);
});

test('the directory is reported if no number is left for a new file', async () => {
  const { directory, live, errors } = await recordedNode({ pods: [podWith('web')] });
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, '999999999999.jsonl.gz'), '');
  await live(1);
  expect(errors).toEqual([new Error(`${directory}: no number is left for another file after 999999999999.jsonl.gz`)]);
});

test.each([
  ['a pipe', makePipe],
  ['a link', (path: string) => symlink('/dev/null', path)],
])('%s that replaces the current file is not written to', async (_, put) => {
  const { directory, live, errors, recorder } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  await live(1);
  const file = join(directory, '00000001.jsonl.gz');
  await rename(file, join(directory, 'away'));
  await put(file);
  await live(5);
  expect(errors).toHaveLength(1);
  await recorder.close();
  expect(await differencesIn(directory)).toEqual([undefined]);
  expect((await readdir(directory)).toSorted()).toEqual(['00000001.jsonl.gz', '00000002.jsonl.gz', 'away']);
});

test('a recorder whose clock was set back shows everything that happened up to the requested time', async () => {
  const { directory, node, live, recorder, restart } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  await live(2);
  const later = node.clock.now();
  await restart();
  await live(1);
  await recorder.flush();
  const expectedStory = await storyIn(directory, later);
  // Exchange the members, as if the clock of the first run had been an hour ahead. The later lines are still formatted.
  const file = await RecordingFile.open(directory);
  const moved = { ...file, members: file.members.toReversed(), isLast: () => true, lines: file.lines.bind(file) };
  const other: string[] = [];
  // `formatStory` uses nothing else of a recording.
  for await (const line of formatStory(moved as unknown as RecordingFile, { until: later })) other.push(line);
  expect(other.toSorted()).toEqual(expectedStory.toSorted());
});
