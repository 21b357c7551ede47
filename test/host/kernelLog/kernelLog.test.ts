import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { appendFile, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { hostKernelLog, type KernelLog, RecordReader } from '../../../host/kernelLog/kernelLog.ts';

let directory: string;
const opened: KernelLog[] = [];
const { signal } = new AbortController();

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-kmsg-'));
});
afterEach(async () => {
  for (const log of opened.splice(0)) await log.close();
  await rm(directory, { recursive: true });
});

function openLog(options: Parameters<typeof hostKernelLog>[0]): KernelLog {
  const log = hostKernelLog(options);
  opened.push(log);
  return log;
}

async function readAll(log: KernelLog): Promise<string[]> {
  const texts: string[] = [];
  for (let messages = await log.read({ signal }); messages.length > 0; messages = await log.read({ signal }))
    texts.push(...messages.map(({ text }) => text));
  return texts;
}

const texts = (reader: RecordReader, ...chunks: readonly string[]) =>
  chunks.flatMap((chunk) => reader.push(chunk)).map(({ text }) => text);

test('a record consists of the text after its prefix and its time since boot', () => {
  const reader = new RecordReader();
  expect(reader.push('6,339,5140900,-;NET: Registered protocol family 10\n')).toEqual([
    { microseconds: 5_140_900, text: 'NET: Registered protocol family 10' },
  ]);
  expect(reader.push('30,340,5690716,-,caller=T1;udevd[80]: starting; version 181\n')).toEqual([
    { microseconds: 5_690_716, text: 'udevd[80]: starting; version 181' },
  ]);
});

test('properties of a record and invalid lines are skipped', () => {
  const chunk =
    '4,1,2,-;a message\n SUBSYSTEM=acpi\n DEVICE=+acpi:PNP0A03:00\n\nnoise\n;\n4,x,2,-;no number\n4,2,3;short\n';
  expect(texts(new RecordReader(), chunk)).toEqual(['a message', 'short']);
});

test('fragments of a line are joined, even if other records follow', () => {
  const chunk =
    '4,1,2,c;Task in /a\n4,2,2,+; killed as a result\n4,3,2,+; of limit of /b\n4,4,3,-;next\n4,5,3,+;alone\n';
  expect(texts(new RecordReader(), chunk)).toEqual(['Task in /a killed as a result of limit of /b', 'next', 'alone']);
});

test('records that were read before the log was opened again are skipped', () => {
  const reader = new RecordReader();
  expect(texts(reader, '4,7,1,-;a\n4,8,2,-;b\n', '4,7,1,-;a\n4,8,2,-;b\n4,9,3,-;c\n')).toEqual(['a', 'b', 'c']);
});

test('a record may arrive in parts, and a line that is too long for the kernel is skipped', () => {
  const reader = new RecordReader();
  const long = `4,2,1,-;${'x'.repeat(2 ** 20)}`;
  expect(texts(reader, '4,1,1,-;a', ' b\n', long.slice(0, 5_000), long.slice(5_000), 'y\n', '4,3,1,-;c\n')).toEqual([
    'a b',
    'c',
  ]);
});

test('C48: the log is read from its start, and then new records are read', async () => {
  const path = join(directory, 'kmsg');
  await writeFile(path, '4,1,1000000,-;first\n4,2,2500000,-;second\n');
  const clock = { now: () => 100_000, monotonic: () => 0, setTimeout, clearTimeout: () => {} };
  const log = openLog({ path, clock, uptimeSeconds: () => 60 });
  expect(await log.read({ signal })).toEqual([
    { at: 41_000, text: 'first' },
    { at: 42_500, text: 'second' },
  ]);
  expect(await log.read({ signal })).toEqual([]);
  await appendFile(path, '4,3,3000000,-;third\n');
  expect(await readAll(log)).toEqual(['third']);
});

test('an empty log with a possible writer does not block', async () => {
  const path = join(directory, 'fifo');
  execFileSync('mkfifo', [path]);
  const log = openLog({ path });
  expect(await readAll(log)).toEqual([]);
  const writer = await open(path, constants.O_WRONLY);
  expect(await readAll(log)).toEqual([]);
  await writer.write('4,1,1,-;written\n');
  expect(await readAll(log)).toEqual(['written']);
  await writer.close();
});

const errno = (code: string) => Object.assign(new Error(`${code}: read`), { code });

test('C48: records that the kernel has overwritten are skipped, and every other error is reported', async () => {
  const results = ['4,1,1,-;a\n', errno('EPIPE'), errno('EPIPE'), '4,9,1,-;b\n', errno('EAGAIN'), errno('EIO')];
  let openCount = 0;
  let closeCount = 0;
  const openFile: NonNullable<Parameters<typeof hostKernelLog>[0]>['openFile'] = async () => {
    openCount += 1;
    const read = async (buffer: Buffer) => {
      const result = results.shift();
      if (result instanceof Error) throw result;
      return { bytesRead: buffer.write(result ?? ''), buffer };
    };
    // Only the signature of `read` that the log uses.
    const close = async () => {
      closeCount += 1;
    };
    return { read, close } as never;
  };
  const log = openLog({ openFile });
  expect((await log.read({ signal })).map(({ text }) => text)).toEqual(['a', 'b']);
  await expect(log.read({ signal })).rejects.toThrow('EIO: read');
  expect([openCount, closeCount]).toEqual([1, 1]);
  results.push('4,9,1,-;b\n', '4,10,1,-;c\n', errno('EAGAIN'));
  expect((await log.read({ signal })).map(({ text }) => text)).toEqual(['c']);
  expect(openCount).toBe(2);
});

test('a missing log is reported', async () => {
  await expect(openLog({ path: join(directory, 'missing') }).read({ signal })).rejects.toThrow('ENOENT');
});

test('a flood of 100,000 records is returned in portions, and an aborted read ends', async () => {
  const path = join(directory, 'kmsg');
  const lines = Array.from({ length: 100_000 }, (_, number) => `4,${number},${number},-;line ${number}\n`);
  await writeFile(path, lines.join(''));
  const log = openLog({ path });
  const first = await log.read({ signal });
  // Each portion ends with the bytes of one read.
  expect(first.length).toBeLessThan(2_000);
  expect(await log.read({ signal: AbortSignal.abort() })).toEqual([]);
  const rest = await readAll(log);
  expect(first.length + rest.length).toBe(100_000);
  expect(rest.at(-1)).toBe('line 99999');
});

test('the wait for new messages ends after a second, or when it is aborted', async () => {
  const timers: number[] = [];
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    setTimeout: (act: () => void, ms: number) => timers.push(ms) && queueMicrotask(act),
    clearTimeout: () => {},
  };
  await openLog({ clock }).untilWritten({ signal });
  expect(timers).toEqual([1_000]);
  await openLog({ clock: { ...clock, setTimeout: () => 0 } }).untilWritten({ signal: AbortSignal.abort() });
});
