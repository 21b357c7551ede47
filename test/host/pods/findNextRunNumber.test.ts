import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { findNextRunNumber } from '../../../host/pods/findNextRunNumber.ts';
import { inFolder } from '../../volume/onDisk.ts';

async function countOf(...names: string[]): Promise<number> {
  let count = NaN;
  await inFolder(async (folder) => {
    for (const name of names) {
      if (name.endsWith('/')) await mkdir(path.join(folder, name));
      else if (name.endsWith('@')) await symlink('/nowhere', path.join(folder, name.slice(0, -1)));
      else await writeFile(path.join(folder, name), '');
    }
    count = await findNextRunNumber(hostFiles, folder);
  });
  return count;
}

test('C23: the restart count is one more than the highest number of a log', async () => {
  expect(await countOf()).toBe(0);
  expect(await countOf('0.log')).toBe(1);
  expect(await countOf('2.log', '10.log', '9.log')).toBe(11);
  expect(await countOf('3.log.20260131-235959.gz', '1.log')).toBe(4);
  expect(await countOf('7.log@')).toBe(8);
});

test('C23: ignores other files, directories and impossible numbers', async () => {
  expect(await countOf('5.log/', 'x5.log', '5.txt', '.5.log', '4294967295.log', '99999999999999999999.log')).toBe(0);
});

test('C23: a missing directory means no runs, and an unreadable one is an error', async () => {
  await inFolder(async (folder) => {
    expect(await findNextRunNumber(hostFiles, path.join(folder, 'none'))).toBe(0);
    await symlink('loop', path.join(folder, 'loop'));
    await expect(findNextRunNumber(hostFiles, path.join(folder, 'loop'))).rejects.toMatchObject({ code: 'ELOOP' });
  });
});
