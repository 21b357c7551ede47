import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { bytesOf } from '../../recording/dump.ts';
import { headOf } from '../../recording/member.ts';
import { podRunning } from '../fakes/pods.ts';
import { recordedNode } from './recorded.ts';

test('a dump begins where a replay can, and leaves out what is removed meanwhile', async () => {
  const { directory, live, restart, recorder } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  expect(await bytesOf(join(directory, '..'))).toBeUndefined();
  await live(5);
  await restart();
  await live(5);
  await recorder.end();
  const read = async (meanwhile = async () => {}) => {
    const parts: Uint8Array[] = [];
    for await (const part of (await bytesOf(directory)) ?? []) {
      if (parts.length === 0) await meanwhile();
      parts.push(part);
    }
    return Buffer.concat(parts);
  };
  const whole = await read();
  expect(headOf(whole)?.begins).toBe('anew');
  const rest = await read(() => rm(join(directory, '00000002.jsonl.gz')));
  expect(rest.length).toBeLessThan(whole.length);
  expect(whole.subarray(0, rest.length).equals(rest)).toBe(true);
});
