import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readLog } from '../../../../kubelet-api/logs/container/readLog.ts';
import { line } from '../servedLogs.ts';

const WRITTEN = line(0, 'a'.repeat(199));
const LATER = line(0, 'b'.repeat(199));
const LINES = 4_000;

/** Creates a log and a slow reader. The test advances the time that the reader waits. */
async function readSlowly() {
  const root = await mkdtemp(join(tmpdir(), 'statelet-read-'));
  const path = join(root, '0.log');
  await writeFile(path, WRITTEN.repeat(LINES));
  const over: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => over.push(resolve));
  const text = readLog({ path, allowedRoots: [root] }, { pause, signal: new AbortController().signal });
  const next = async () => String((await text.next()).value ?? '');
  const overwrite = async () => {
    const handle = await open(path, 'r+');
    await handle.write(LATER.repeat(LINES), 0);
    await handle.close();
  };
  const end = async () => {
    await text.return(undefined);
    await rm(root, { recursive: true });
  };
  return { next, overwrite, over, end };
}

test('a slow reader has only the part of the log in memory that is being sent', async () => {
  const { next, overwrite, over, end } = await readSlowly();
  // The first part may be the whole log, so the reader reads ahead only from the second part on.
  await next();
  await next();
  await overwrite();
  expect(await next()).not.toContain('b');
  expect(over).toHaveLength(1);
  over[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  // This part may still contain the end of an old line. All later parts are new.
  await next();
  expect(await next()).not.toContain('a');
  await end();
});

test('only some of many slow readers have data read ahead, and all get the same content', async () => {
  const readers = await Promise.all(Array.from({ length: 6 }, () => readSlowly()));
  for (const { next } of readers) for (let part = 0; part < 3; part += 1) await next();
  const isHeld = readers.map(({ over }) => over.length);
  expect(isHeld).toEqual([1, 1, 1, 1, 0, 0]);
  for (const { next, end } of readers) {
    expect(await next()).toMatch(/^a+$/m);
    await end();
  }
  const later = await readSlowly();
  for (let part = 0; part < 3; part += 1) await later.next();
  expect(later.over).toHaveLength(1);
  await later.end();
});
