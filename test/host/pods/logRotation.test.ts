import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { rotateIfNeeded } from '../../../host/pods/logRotation.ts';
import { inFolder, signal } from '../../volume/onDisk.ts';

const NOON = Date.parse('2026-03-04T12:00:00Z');

interface Story {
  readonly folder: string;
  readonly names: () => Promise<string[]>;
  readonly text: (name: string) => Promise<string>;
  /** Lets the container write this text, and checks the log this number of seconds after noon. */
  readonly tend: (seconds: number, text?: string, fails?: boolean) => Promise<void>;
}

/** Runs a story with a container whose log has at most `maxFiles` files of at most ten bytes. */
function withLog(maxFiles: number, story: (log: Story) => Promise<void>): Promise<void> {
  return inFolder(async (root) => {
    const folder = join(root, 'main');
    await mkdir(folder);
    const file = join(folder, '0.log');
    await story({
      folder,
      names: async () => (await readdir(folder)).sort(),
      text: (name) => readFile(join(folder, name), 'utf8'),
      tend: async (seconds, text, fails = false) => {
        if (text !== undefined) await writeFile(file, text, { flag: 'a' });
        const reopen = async () => {
          if (fails) throw new Error('the runtime is away');
          await writeFile(file, '', { flag: 'a' });
        };
        await rotateIfNeeded({
          files: hostFiles,
          file,
          maxBytes: 10,
          maxFiles,
          now: NOON + seconds * 1_000,
          reopen,
          signal,
        });
      },
    });
  });
}

describe('C23: the rotation of a log', () => {
  test('leaves a log below its maximum size unchanged', () =>
    withLog(5, async ({ names, tend }) => {
      await tend(0, 'nine byte');
      expect(await names()).toEqual(['0.log']);
    }));

  test('renames a full log with a timestamp, compresses all but the newest file, and loses nothing', () =>
    withLog(5, async ({ folder, names, text, tend }) => {
      await tend(0, 'first line\n');
      expect(await names()).toEqual(['0.log', '0.log.20260304-120000']);
      await tend(10, 'second line\n');
      await tend(20, 'third line\n');
      await tend(25, 'rest');
      expect(await names()).toEqual([
        '0.log',
        '0.log.20260304-120000.gz',
        '0.log.20260304-120010.gz',
        '0.log.20260304-120020',
      ]);
      const packed = await Promise.all(['00', '10'].map((at) => readFile(join(folder, `0.log.20260304-1200${at}.gz`))));
      const all = [...packed.map((each) => gunzipSync(each).toString()), await text('0.log.20260304-120020')];
      expect([...all, await text('0.log')].join('')).toBe('first line\nsecond line\nthird line\nrest');
      expect((await stat(join(folder, '0.log.20260304-120000.gz'))).mode & 0o777).toBe(0o644);
    }));

  test.each([2, 3, 5])('retains at most %i files, and removes the oldest', (maxFiles) =>
    withLog(maxFiles, async ({ names, tend }) => {
      for (let at = 0; at < 8; at++) await tend(at * 10, 'more than ten bytes\n');
      const there = await names();
      expect(there).toHaveLength(maxFiles);
      expect(there.at(-1)).toBe('0.log.20260304-120110');
    }),
  );

  test('restores the file name if the runtime fails to reopen the log', () =>
    withLog(5, async ({ names, text, tend }) => {
      await expect(tend(0, 'more than ten bytes\n', true)).rejects.toThrow('away');
      expect(await names()).toEqual(['0.log']);
      expect(await text('0.log')).toBe('more than ten bytes\n');
      await tend(10);
      expect(await names()).toEqual(['0.log', '0.log.20260304-120010']);
    }));

  test('preserves new output if only the response was lost', () =>
    inFolder(async (folder) => {
      const file = join(folder, '0.log');
      await writeFile(file, 'more than ten bytes\n');
      const reopen = async () => {
        await writeFile(file, 'new\n');
        throw new Error('no answer');
      };
      await expect(
        rotateIfNeeded({ files: hostFiles, file, maxBytes: 10, maxFiles: 5, now: NOON, reopen, signal }),
      ).rejects.toThrow('no answer');
      expect(await readFile(file, 'utf8')).toBe('new\n');
      expect(await readdir(folder)).toContain('0.log.20260304-120000');
    }));

  test('removes leftovers of an earlier rotation', () =>
    withLog(5, async ({ folder, names, tend }) => {
      for (const name of ['0.log.1.gz.tmp', '0.log.2', '0.log.2.gz', '10.log.1.gz.tmp']) {
        await writeFile(join(folder, name), 'x');
      }
      await tend(0, 'more than ten bytes\n');
      expect(await names()).toEqual(['0.log', '0.log.2.gz', '0.log.20260304-120000', '10.log.1.gz.tmp']);
    }));

  test('reopens a log whose new file was never opened, and ignores a missing log', () =>
    withLog(5, async ({ folder, names, tend }) => {
      await tend(0);
      expect(await names()).toEqual([]);
      await writeFile(join(folder, '0.log.20260304-115000'), 'x');
      await tend(10);
      expect(await names()).toEqual(['0.log', '0.log.20260304-115000']);
    }));
});
