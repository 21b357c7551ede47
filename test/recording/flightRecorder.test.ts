import { appendFile, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { readLine } from '../../recording/readLine.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { findStretches } from '../../recording/stretches.ts';
import { containerWith, podRunning, podWith } from '../fakes/pods.ts';
import { checkedStretches, recordedNode } from './recorded.ts';

const KIB = 2 ** 10;

/** Returns all lines of a recording as they were written. */
async function textsOf(path: string): Promise<string[]> {
  const file = await RecordingFile.open(path);
  return (await Promise.all(file.members.map((member) => file.lines(member)))).flat();
}

const linesOf = async (path: string) => (await textsOf(path)).map((text) => readLine(text) ?? `unread: ${text}`);

const sizesIn = async (directory: string) =>
  Promise.all((await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size));

test('hours of a node with killed agents replay without a difference', async () => {
  const recorded = await recordedNode({
    pods: [podWith('web', { volumes: [{ name: 'scratch', emptyDir: {} }] }), podRunning('bad', 'sleep 3; exit 1')],
  });
  const { node, directory, live, restart } = recorded;
  await live(30);
  node.runtime.killSandbox(node.sandboxId('web'));
  node.apply(podRunning('job', 'sleep 30', { restartPolicy: 'Never' }));
  await live(20);
  node.runtime.down();
  await live(5);
  node.runtime.restart();
  await live(15);
  await restart();
  await live(60);
  node.remove('bad');
  await live(5);
  await recorded.recorder.close();
  expect(recorded.errors).toEqual([]);
  const [first, second, ...others] = await checkedStretches(directory);
  expect(others).toEqual([]);
  for (const checked of [first, second]) {
    expect(checked?.difference).toBeUndefined();
    expect(checked?.entries).toBeGreaterThan(100);
    expect(checked?.states).toBeGreaterThan(100);
    expect(checked?.statuses).toBeGreaterThan(20);
  }
  const kinds = new Set((await linesOf(directory)).map((line) => (typeof line === 'string' ? line : line.kind)));
  expect([...kinds].toSorted()).toEqual(
    ['began', 'answer', 'failure', 'fact', 'elapsed', 'asked', 'state', 'status', 'event', 'ended'].toSorted(),
  );
}, 60_000);

test('a ring that has lost its start replays from its first keyframe, and does not exceed its size', async () => {
  const sizeBytes = 160 * KIB;
  const { node, directory, live, recorder } = await recordedNode({
    sizeBytes,
    pods: [podRunning('bad', 'exit 1')],
    config: { crashLoop: { baseMs: 1_000, maxMs: 1_000 } },
  });
  await live(6);
  expect(node.container('bad').restartCount).toBeGreaterThan(50);
  await recorder.close();
  const names = (await readdir(directory)).toSorted();
  expect(names[0]).not.toBe('00000001.jsonl.gz');
  const sizes = await sizesIn(directory);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(sizeBytes);
  const [checked, ...others] = await checkedStretches(directory);
  expect(others).toEqual([]);
  expect(checked?.difference).toBeUndefined();
  expect(checked?.states).toBeGreaterThan(100);
}, 60_000);

test('a torn write at the end is cut off, and the rest is read', async () => {
  const { directory, live, recorder } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  await live(10);
  await recorder.flush();
  const file = join(directory, '00000001.jsonl.gz');
  const whole = (await RecordingFile.open(file)).members.length;
  expect(whole).toBeGreaterThan(5);
  await appendFile(file, Buffer.alloc(1_000));
  expect((await RecordingFile.open(file)).members).toHaveLength(whole);
  const { size } = await stat(file);
  await truncate(file, size - 1_001);
  expect((await RecordingFile.open(file)).members).toHaveLength(whole - 1);
  const [checked] = await checkedStretches(directory);
  expect(checked?.difference).toBeUndefined();
  expect(checked?.states).toBeGreaterThan(20);
});

test('a disk that is full for a while loses only the entries of that time', async () => {
  let isFull = false;
  const files: typeof hostFiles = {
    ...hostFiles,
    open: async (path, flags, mode) => {
      const file = await hostFiles.open(path, flags, mode);
      const writeFile = (data: string | Uint8Array) =>
        isFull
          ? Promise.reject(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }))
          : file.writeFile(data);
      return { ...file, close: () => file.close(), writeFile };
    },
  };
  const { directory, live, errors, recorder, node } = await recordedNode({
    files,
    pods: [podRunning('bad', 'exit 1')],
  });
  await live(10);
  isFull = true;
  await live(10);
  expect(errors).toEqual([expect.objectContaining({ code: 'ENOSPC' })]);
  isFull = false;
  await live(10);
  expect(errors).toHaveLength(1);
  expect(node.container('bad').restartCount).toBeGreaterThan(5);
  await recorder.close();
  const began = (await linesOf(directory)).filter((line) => typeof line !== 'string' && line.kind === 'began');
  expect(began).toHaveLength(2);
  expect(began[1]).toMatchObject({ from: expect.anything(), missed: expect.any(Number), life: 'life 1' });
  // Both parts are complete, and nothing is left of what could not be written.
  expect(await readdir(directory)).toHaveLength(2);
  const checked = await checkedStretches(directory);
  expect(checked.map(({ difference }) => difference)).toEqual([undefined, undefined]);
});

test('a disk that hangs is reported, and blocks neither the node nor its stop', async () => {
  const hanging = Promise.withResolvers<void>();
  let hangs = false;
  const files: typeof hostFiles = {
    ...hostFiles,
    open: async (path, flags, mode) => {
      if (hangs) await hanging.promise;
      return hostFiles.open(path, flags, mode);
    },
  };
  const { live, errors, recorder, node } = await recordedNode({
    files,
    limits: true,
    pods: [podRunning('bad', 'exit 1')],
  });
  await live(1);
  hangs = true;
  await node.advance('1m');
  await recorder.flush();
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(/: no answer within 10 s$/) })]);
  await node.advance('1m');
  await recorder.flush();
  await recorder.close();
  expect(errors).toHaveLength(1);
  hanging.resolve();
});

test('a damaged member ends its file if it is the last one, and is reported otherwise', async () => {
  const { directory, live, recorder } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  await live(5);
  await recorder.flush();
  const path = join(directory, '00000001.jsonl.gz');
  const { members } = await RecordingFile.open(path);
  const bytes = await readFile(path);
  const damagedAt = async (index: number) => {
    const { offset = 0, size = 0 } = members.at(index) ?? {};
    const damaged = Buffer.from(bytes);
    damaged.fill(0, offset + 50, offset + size);
    await writeFile(path, damaged);
    return offset;
  };
  await damagedAt(-1);
  const [checked] = await checkedStretches(path);
  expect(checked?.difference).toBeUndefined();
  const offset = await damagedAt(-2);
  await expect(checkedStretches(path)).rejects.toThrow(`${path}: damaged at byte ${offset}: `);
});

test('a removed directory is created again, but not its parents, which may only be moved', async () => {
  const { directory, live, errors, recorder } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  await live(5);
  const above = dirname(directory);
  await rename(above, `${above}.away`);
  await live(5);
  expect(errors).toEqual([expect.objectContaining({ code: 'ENOENT' })]);
  await expect(stat(above)).rejects.toThrow('ENOENT');
  await rename(`${above}.away`, above);
  await rm(directory, { recursive: true });
  await live(5);
  await recorder.close();
  expect(errors).toHaveLength(1);
  const [checked, ...others] = await checkedStretches(directory);
  expect(others).toEqual([]);
  expect(checked?.difference).toBeUndefined();
  expect(checked?.states).toBeGreaterThan(5);
});

test('foreign files in the directory remain, and files of former agents count', async () => {
  const { directory, live, recorder } = await recordedNode({ pods: [podWith('web')] });
  await live(1);
  await writeFile(join(directory, 'notes.txt'), 'mine');
  await writeFile(join(directory, '00000002.jsonl.gz'), 'no recording');
  await recorder.close();
  const next = await recordedNode({ pods: [podWith('web')] });
  await next.live(1);
  expect(await readdir(directory)).toEqual(['00000001.jsonl.gz', '00000002.jsonl.gz', 'notes.txt']);
  expect(await findStretches(await RecordingFile.open(directory))).toHaveLength(1);
});

test('no line contains the value of an environment variable', async () => {
  const secret = 'hunter2-is-a-secret';
  const env = [{ name: 'PASSWORD', value: secret }];
  const { directory, live, restart, recorder } = await recordedNode({
    pods: [
      podWith('web', { containers: [containerWith('main', { env, command: ['sh', '-c', 'exit 1'] })] }),
      podWith('once', {
        restartPolicy: 'Never',
        containers: [containerWith('main', { env, command: ['sh', '-c', 'exit 1'] })],
      }),
    ],
  });
  await live(5);
  await restart();
  await live(5);
  await recorder.flush();
  const texts = await textsOf(directory);
  expect(texts.some((text) => text.includes('PASSWORD'))).toBe(true);
  expect(texts.filter((text) => text.includes(secret))).toEqual([]);
});

test('the progress shows received, written, pending and lost lines', async () => {
  const { node, directory, live, recorder } = await recordedNode({ pods: [podWith('web')] });
  await live(10);
  await recorder.flush();
  const { lines, bytes, ...rest } = recorder.progress();
  expect(rest).toEqual({ pendingLength: 0, lostLines: 0, isFailing: false });
  expect(lines).toBeGreaterThan(50);
  expect(bytes).toBe((await sizesIn(directory)).reduce((sum, size) => sum + size, 0));
  await rm(directory, { recursive: true });
  await writeFile(directory, '');
  node.apply(podWith('other'));
  await live(5);
  expect(recorder.progress()).toMatchObject({ isFailing: true, bytes });
  expect(recorder.progress().lostLines).toBeGreaterThan(0);
});
