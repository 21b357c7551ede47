import { execFileSync } from 'node:child_process';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { deflate } from '../../recording/deflate.ts';
import { HEADER, headOf, memberOf } from '../../recording/member.ts';

const lines = (text: string) => ({
  text,
  at: 1_767_225_600_123.5,
  begins: 'anew' as const,
  entries: 7,
  failures: 2,
});

describe('a member', () => {
  test('is gzip to whoever knows nothing else, also one after the other', async () => {
    const bytes = Buffer.concat([await memberOf(lines('one\n'), deflate), await memberOf(lines('two\n'), deflate)]);
    expect(gunzipSync(bytes).toString()).toBe('one\ntwo\n');
    expect(execFileSync('zcat', { input: bytes, encoding: 'utf8' })).toBe('one\ntwo\n');
  });

  test('says how long it is, when its first line was, and whether a replay can begin with it', async () => {
    const bytes = await memberOf(lines('x'.repeat(10_000)), deflate);
    expect(headOf(bytes)).toEqual({
      size: bytes.length,
      at: 1_767_225_600_123.5,
      begins: 'anew',
      entries: 7,
      failures: 2,
    });
    expect(headOf(bytes.subarray(0, HEADER))).toEqual(headOf(bytes));
    expect(headOf(await memberOf({ ...lines(''), at: -1, begins: 'no' }, deflate))).toMatchObject({
      at: -1,
      begins: 'no',
    });
  });

  test('is none where its header is cut off, is of another gzip, or says that it is shorter than it', async () => {
    const bytes = await memberOf(lines('one'), deflate);
    expect(headOf(bytes.subarray(0, HEADER - 1))).toBeUndefined();
    expect(headOf(gzipSync('x'.repeat(1_000)))).toBeUndefined();
    expect(headOf(Buffer.alloc(1_000))).toBeUndefined();
    const short = Buffer.from(bytes);
    short.writeUInt32LE(3, 16);
    expect(headOf(short)).toBeUndefined();
    for (const at of [Number.NaN, 1e300])
      expect(headOf(await memberOf({ ...lines(''), at, begins: 'no' }, deflate))).toBeUndefined();
  });
});
