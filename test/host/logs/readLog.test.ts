import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readLog } from '../../../host/logs/readLog.ts';
import { line, lines, logFolder, NOON } from './logFolder.ts';

/** Creates a log of four files: two compressed ones, one rotated, and the current one. */
async function rotatedLog() {
  const folder = await logFolder();
  await folder.write('0.log', lines('one', 'two'));
  await folder.rotate('0.log.20260504-120010');
  await folder.pack('0.log.20260504-120010');
  await folder.append('0.log', line(10, 'three') + line(11, 'four'));
  await folder.rotate('0.log.20260504-120020');
  await folder.pack('0.log.20260504-120020');
  await folder.append('0.log', line(20, 'five') + line(21, 'six'));
  await folder.rotate('0.log.20260504-120030');
  await folder.append('0.log', line(30, 'seven') + line(31, 'eight'));
  return folder;
}

const ALL = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
const joinLines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');

describe('a log of several files', () => {
  test('is read in order with both streams, without other runs and incomplete files', async () => {
    const folder = await rotatedLog();
    await folder.write('1.log', lines('of another run'));
    await folder.write('0.log.20260504-120030.gz.tmp', 'half');
    await folder.write('0.log.20260504-120020', lines('is compressed already'));
    await folder.append('0.log', line(32, 'nine', { stream: 'stderr' }));
    expect(await folder.read()).toBe(joinLines([...ALL, 'nine']));
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('returns its last %i lines across all files', async (count) => {
    const folder = await rotatedLog();
    expect(await folder.read({ tailLines: count })).toBe(joinLines(count === 0 ? [] : ALL.slice(-count)));
  });

  test('is filtered by time across files, also combined with the last lines', async () => {
    const folder = await rotatedLog();
    expect(await folder.read({ since: NOON + 11_000 })).toBe(joinLines(ALL.slice(3)));
    expect(await folder.read({ since: NOON + 11_000, tailLines: 2 })).toBe(joinLines(ALL.slice(-2)));
    expect(await folder.read({ since: NOON + 30_500, tailLines: 4 })).toBe('eight\n');
    // Digits below a millisecond count.
    expect(await folder.read({ since: NOON + 31_000.1 })).toBe('eight\n');
    expect(await folder.read({ since: NOON + 31_000.2 })).toBe('');
  });

  test('skips files that were last modified before the requested time', async () => {
    const folder = await rotatedLog();
    await folder.write('0.log.20260504-120010.gz', line(40, 'not read'));
    const before = new Date(NOON + 5_000);
    await utimes(join(folder.path, '0.log.20260504-120010.gz'), before, before);
    expect(await folder.read({ since: NOON + 15_000 })).toBe(joinLines(ALL.slice(4)));
  });

  test('is cut after the maximum number of bytes, including timestamps', async () => {
    const folder = await rotatedLog();
    expect(await folder.read({ limitBytes: 10 })).toBe('one\ntwo\nth');
    expect(await folder.read({ limitBytes: 10, tailLines: 2 })).toBe('seven\neigh');
    expect(await folder.read({ limitBytes: 12, timestamps: true })).toBe('2026-05-04T1');
  });

  test('reports a damaged compressed file and reads the others', async () => {
    const folder = await rotatedLog();
    await folder.write('0.log.20260504-120020.gz', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]));
    const damaged: string[] = [];
    const onDamaged = (file: string, why: string) => void damaged.push(`${file}: ${why}`);
    expect(await folder.read({ onDamaged })).toBe(joinLines(ALL.filter((text) => text !== 'three' && text !== 'four')));
    expect(damaged).toEqual([`${folder.path}/0.log.20260504-120020.gz: unexpected end of file`]);
    expect(await folder.read({ onDamaged, tailLines: 5 })).toBe(joinLines(['two', ...ALL.slice(4)]));
  });
});

describe('lines', () => {
  test('join partial lines, also across files, with a single timestamp', async () => {
    const folder = await logFolder();
    await folder.write('0.log', line(0, 'before') + line(1, 'a long ', { tags: 'P' }));
    await folder.rotate('0.log.20260504-120010');
    await folder.append('0.log', line(2, 'and longer ', { tags: 'P:x' }) + line(3, 'line') + line(4, 'after'));
    expect(await folder.read()).toBe('before\na long and longer line\nafter\n');
    expect(await folder.read({ timestamps: true })).toBe(
      [
        '2026-05-04T12:00:00.000123456Z before',
        '2026-05-04T12:00:01.000123456Z a long and longer line',
        '2026-05-04T12:00:04.000123456Z after\n',
      ].join('\n'),
    );
  });

  test('count partial lines as one, regardless of the number of blocks', async () => {
    const folder = await logFolder();
    const parts = Array.from({ length: 20 }, (_, at) => line(at, 'x'.repeat(16_000), { tags: 'P' })).join('');
    await folder.write('0.log', lines('before') + parts + line(30, 'end') + line(31, 'after'));
    expect((await folder.read({ tailLines: 2 })).length).toBe(20 * 16_000 + 'end\nafter\n'.length);
    expect(await folder.read({ tailLines: 1 })).toBe('after\n');
  });

  test('the last lines do not depend on block boundaries', async () => {
    const folder = await logFolder();
    const texts = Array.from({ length: 5_000 }, (_, at) => `${at} ${'z'.repeat(at % 97)}`);
    await folder.write('0.log', lines(...texts));
    for (const count of [1, 700, 701, 1_403, 4_999, 5_000])
      expect(await folder.read({ tailLines: count })).toBe(joinLines(texts.slice(-count)));
  });

  test('timestamps have nine digits and a time zone', async () => {
    const folder = await logFolder();
    await folder.write('0.log', '2026-05-04T12:00:00.5+02:00 stdout F a\n2026-05-04T10:00:01+00:00 stdout F b\n');
    expect(await folder.read({ timestamps: true })).toBe(
      '2026-05-04T12:00:00.500000000+02:00 a\n2026-05-04T10:00:01.000000000Z b\n',
    );
    expect(await folder.read({ since: Date.parse('2026-05-04T10:00:00.6Z') })).toBe('b\n');
  });

  test('bytes and empty lines are preserved; an incomplete line is returned but does not count among the last lines', async () => {
    const folder = await logFolder();
    const start = line(1, '').slice(0, -1);
    await folder.write('0.log', `${line(0, '')}${start}\0\x1b[2J\r\n${line(2, 'unfinished').slice(0, -1)}`);
    expect(await folder.read()).toBe('\n\0\x1b[2J\r\nunfinished');
    expect(await folder.read({ tailLines: 2 })).toBe('\n\0\x1b[2J\r\n');
  });

  test('a line that is cut at the end of a file does not continue in the next file', async () => {
    const folder = await logFolder();
    await folder.write('0.log', line(0, 'cut off').slice(0, -1));
    await folder.rotate('0.log.20260504-120010');
    await folder.append('0.log', line(1, 'next'));
    expect(await folder.read()).toBe('cut off\nnext\n');
  });

  test('a very long line is returned in parts and counts as one', async () => {
    const folder = await logFolder();
    const long = 'y'.repeat(1_000_000);
    await folder.write('0.log', lines('first', long, 'last'));
    expect(await folder.read()).toBe(`first\n${long}\nlast\n`);
    expect(await folder.read({ tailLines: 2 })).toBe(`${long}\nlast\n`);
  });

  test('invalid lines are skipped, and a file of only invalid lines is rejected', async () => {
    const folder = await logFolder();
    await folder.write('0.log', `\0\0\0 broken\n${lines('one')}noise\n${line(1, 'two')}`);
    expect(await folder.read()).toBe('one\ntwo\n');
    expect(await folder.read({ tailLines: 2 })).toBe('one\ntwo\n');
    await folder.write('0.log', '{"log":"a","stream":"stdout"}\n');
    await expect(folder.read()).rejects.toThrow(/^unsupported log format: "{/);
  });
});

describe('obstacles', () => {
  test('a missing log is reported as not found, with or without its directory', async () => {
    const folder = await logFolder();
    await folder.write('1.log', lines('of another run'));
    const missing = { reason: 'NotFound', message: `${folder.path}/0.log does not exist` };
    await expect(folder.read()).rejects.toMatchObject(missing);
    await folder.remove();
    await expect(folder.read()).rejects.toMatchObject(missing);
  });

  test('links are not followed, and special files do not block', async () => {
    const folder = await logFolder();
    await symlink('/etc/hostname', join(folder.path, '0.log'));
    await expect(folder.read()).rejects.toThrow(/main: ELOOP/);
    await folder.remove('0.log');
    execFileSync('mkfifo', [join(folder.path, '0.log')]);
    await expect(folder.read()).rejects.toThrow(/not a regular file/);
    const outside = await logFolder();
    await outside.write('0.log', lines('secret'));
    await rename(folder.path, `${folder.path}-moved`);
    await symlink(outside.path, folder.path);
    await expect(folder.read()).rejects.toThrow(/leads outside/);
  });

  test('the root directory of all logs may be a link', async () => {
    const folder = await rotatedLog();
    const real = join(folder.root, 'real');
    await mkdir(real);
    await rename(join(folder.root, 'default_web_u-1'), join(real, 'default_web_u-1'));
    const link = `${folder.root}-link`;
    await symlink(real, link);
    try {
      const place = { root: link, directory: join(link, 'default_web_u-1', 'main'), run: 0 };
      let text = '';
      for await (const chunk of readLog(place, { signal: new AbortController().signal })) text += chunk.toString();
      expect(text).toBe(joinLines(ALL));
    } finally {
      await rm(link);
    }
  });
});
