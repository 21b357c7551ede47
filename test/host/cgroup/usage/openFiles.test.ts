/** Number of files that processes have open. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { countOpenFiles } from '../../../../host/cgroup/usage/openFiles.ts';

let proc = '';
beforeEach(async () => {
  proc = await mkdtemp(join(tmpdir(), 'statelet-proc-'));
});
afterEach(() => rm(proc, { recursive: true, force: true }));

async function process(pid: number, links: readonly string[], soft = '1024') {
  await mkdir(join(proc, `${pid}/fd`), { recursive: true });
  await writeFile(
    join(proc, `${pid}/limits`),
    `Limit                     Soft Limit           Hard Limit           Units
Max processes             1000                 1000                 processes
Max open files            ${soft.padEnd(20)} 4096                 files
`,
  );
  await Promise.all(links.map((link, at) => symlink(link, join(proc, `${pid}/fd/${at}`))));
}

test('counts the files and sockets of all processes, with the limit of the first', async () => {
  await process(1, ['/dev/null', 'socket:[17]', 'pipe:[3]']);
  await process(2, ['socket:[18]'], '2048');
  expect(countOpenFiles([1, 2], proc)).toEqual({ openCount: 4, socketCount: 2, softLimit: 1_024 });
  expect(countOpenFiles([2, 3], proc)).toEqual({ openCount: 1, socketCount: 1, softLimit: 2_048 });
});

test('handles no limit, no processes, and too many processes', async () => {
  await process(1, [], 'unlimited');
  expect(countOpenFiles([1], proc)).toEqual({ openCount: 0, socketCount: 0, softLimit: -1 });
  expect(countOpenFiles([], proc)).toEqual({ openCount: 0, socketCount: 0 });
  expect(
    countOpenFiles(
      Array.from({ length: 257 }, (_, at) => at),
      proc,
    ),
  ).toBeUndefined();
});

test('sockets are not counted if there are very many files', async () => {
  await process(
    1,
    Array.from({ length: 1_001 }, () => 'socket:[1]'),
  );
  expect(countOpenFiles([1], proc)).toEqual({ openCount: 1_001, softLimit: 1_024 });
});
