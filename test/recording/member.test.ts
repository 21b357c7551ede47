import { execFileSync } from 'node:child_process';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { deflate } from '../../recording/deflate.ts';
import { encodeMember, HEADER_BYTES, parseMemberHead } from '../../recording/member.ts';

const lines = (text: string) => ({
  text,
  at: 1_767_225_600_123.5,
  startKind: 'anew' as const,
  entries: 7,
  failures: 2,
});

describe('a member', () => {
  test('is plain gzip to other programs, also after another member', async () => {
    const bytes = Buffer.concat([
      await encodeMember(lines('one\n'), deflate),
      await encodeMember(lines('two\n'), deflate),
    ]);
    expect(gunzipSync(bytes).toString()).toBe('one\ntwo\n');
    expect(execFileSync('zcat', { input: bytes, encoding: 'utf8' })).toBe('one\ntwo\n');
  });

  test('states its length, the time of its first line, and whether a replay can start with it', async () => {
    const bytes = await encodeMember(lines('x'.repeat(10_000)), deflate);
    expect(parseMemberHead(bytes)).toEqual({
      size: bytes.length,
      at: 1_767_225_600_123.5,
      startKind: 'anew',
      entries: 7,
      failures: 2,
    });
    expect(parseMemberHead(bytes.subarray(0, HEADER_BYTES))).toEqual(parseMemberHead(bytes));
    expect(parseMemberHead(await encodeMember({ ...lines(''), at: -1, startKind: 'no' }, deflate))).toMatchObject({
      at: -1,
      startKind: 'no',
    });
  });

  test('is invalid if its header is truncated, is of a different gzip file, or states too short a length', async () => {
    const bytes = await encodeMember(lines('one'), deflate);
    expect(parseMemberHead(bytes.subarray(0, HEADER_BYTES - 1))).toBeUndefined();
    expect(parseMemberHead(gzipSync('x'.repeat(1_000)))).toBeUndefined();
    expect(parseMemberHead(Buffer.alloc(1_000))).toBeUndefined();
    const short = Buffer.from(bytes);
    short.writeUInt32LE(3, 16);
    expect(parseMemberHead(short)).toBeUndefined();
    for (const at of [Number.NaN, 1e300])
      expect(parseMemberHead(await encodeMember({ ...lines(''), at, startKind: 'no' }, deflate))).toBeUndefined();
  });
});
