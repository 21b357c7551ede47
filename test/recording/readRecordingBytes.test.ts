import { randomBytes } from 'node:crypto';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { deflate } from '../../recording/deflate.ts';
import { encodeMember, parseMemberHead } from '../../recording/member.ts';
import { readRecordingBytes } from '../../recording/readRecordingBytes.ts';
import { podRunning } from '../fakes/pods.ts';
import { recordedNode } from './recorded.ts';

test('a dump starts where a replay can start, and omits files that are removed meanwhile', async () => {
  const { directory, live, restart, recorder } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  for (const nothing of ['..', '../missing'])
    expect(await readRecordingBytes(join(directory, nothing))).toBeUndefined();
  await live(5);
  await restart();
  await live(5);
  await recorder.close();
  const read = async (meanwhile = async () => {}) => {
    const parts: Uint8Array[] = [];
    for await (const part of (await readRecordingBytes(directory)) ?? []) {
      if (parts.length === 0) await meanwhile();
      parts.push(part);
    }
    return Buffer.concat(parts);
  };
  const whole = await read();
  expect(parseMemberHead(whole)?.startKind).toBe('anew');
  const rest = await read(() => rm(join(directory, '00000002.jsonl.gz')));
  expect(rest.length).toBeLessThan(whole.length);
  expect(whole.subarray(0, rest.length).equals(rest)).toBe(true);
});

test('a file is read in parts of at most 1 MiB, whatever its members are, and must not shrink meanwhile', async () => {
  const { directory, live, recorder } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  await live(1);
  await recorder.close();
  const file = join(directory, '00000002.jsonl.gz');
  // Random data does not compress.
  const text = randomBytes(2 ** 21).toString('base64');
  const members = ['anew', 'no'].map((begins) =>
    encodeMember({ text, at: 0, startKind: begins as 'anew' | 'no', entries: 0, failures: 0 }, deflate),
  );
  await writeFile(file, Buffer.concat(await Promise.all(members)));
  const sizes: number[] = [];
  for await (const { length } of (await readRecordingBytes(directory)) ?? []) sizes.push(length);
  expect(sizes.length).toBeGreaterThan(4);
  expect(Math.max(...sizes)).toBe(2 ** 20);
  const parts = (await readRecordingBytes(directory))?.[Symbol.asyncIterator]();
  await parts?.next();
  await parts?.next();
  await truncate(file, 2 ** 20);
  await expect(parts?.next()).rejects.toThrow(`${file}: became shorter while it was read`);
});
