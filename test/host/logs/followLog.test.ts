import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { line, lines, logFolder } from './logFolder.ts';

const joinLines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');

test('new output is returned as it arrives, including all output before the end of the run', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one'));
  const followed = folder.follow();
  await followed.until('one\n');
  await folder.append('0.log', line(1, 'two'));
  await followed.until('one\ntwo\n');
  // A line that is written in two parts is returned once it is complete.
  await folder.append('0.log', line(2, 'three').slice(0, -4));
  await folder.append('0.log', `ree\n${line(3, 'four')}`);
  await followed.until('one\ntwo\nthree\nfour\n');
  await folder.append('0.log', line(4, 'five'));
  expect(await followed.end()).toBe('one\ntwo\nthree\nfour\nfive\n');
});

test('the log of a completed run is read to its end', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one', 'two') + line(2, 'unfinished').slice(0, -1));
  expect(await folder.follow().end()).toBe('one\ntwo\nunfinished');
});

test('starts with the last lines, or with none', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one', 'two'));
  await folder.rotate('0.log.20260504-120010');
  await folder.append('0.log', line(2, 'three'));
  const [two, none] = [folder.follow({ tailLines: 2 }), folder.follow({ tailLines: 0 })];
  await two.until('two\nthree\n');
  await folder.append('0.log', line(3, 'four'));
  await none.until('four\n');
  expect([await two.end(), await none.end()]).toEqual(['two\nthree\nfour\n', 'four\n']);
});

test('ends at the maximum number of bytes', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one'));
  const followed = folder.follow({ limitBytes: 6 });
  await followed.until('one\n');
  await folder.append('0.log', line(1, 'two'));
  expect(await followed.done).toBe('one\ntw');
});

test('ends without an error on cancellation', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one'));
  const controller = new AbortController();
  const followed = folder.follow({ signal: controller.signal });
  await followed.until('one\n');
  controller.abort();
  expect(await followed.done).toBe('one\n');
});

test('ends if the directory of the log is removed, after reading all of the log', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one'));
  const followed = folder.follow();
  await followed.until('one\n');
  await folder.append('0.log', line(1, 'two'));
  await folder.remove();
  expect(await followed.done).toBe('one\ntwo\n');
});

test('no line is lost or duplicated if the runtime writes to the old file until it opens the new one', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one'));
  const followed = folder.follow();
  await followed.until('one\n');
  await folder.rotate('0.log.20260504-120010', { reopen: false });
  await folder.append('0.log.20260504-120010', line(1, 'two'));
  await followed.until('one\ntwo\n');
  await folder.append('0.log', line(2, 'four'));
  await folder.append('0.log.20260504-120010', line(2, 'three'));
  await followed.until('one\ntwo\nthree\nfour\n');
  await folder.pack('0.log.20260504-120010');
  await folder.append('0.log', line(3, 'five'));
  expect(await followed.end()).toBe('one\ntwo\nthree\nfour\nfive\n');
});

test('late output in a rotated file precedes the new file', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one'));
  const followed = folder.follow({
    pause: (ms) => (ms < 1_000 ? folder.append('0.log.20260504-120010', line(1, 'two')) : wait(20)),
  });
  await followed.until('one\n');
  await folder.rotate('0.log.20260504-120010');
  await folder.append('0.log', line(2, 'three'));
  await followed.until('one\ntwo\nthree\n');
  expect(await followed.end()).toBe('one\ntwo\nthree\n');
});

test('a slow reader continues across several rotations, compressed or not', async () => {
  const folder = await logFolder();
  const text = (from: number) => Array.from({ length: 3 }, (_, at) => `${from + at}`);
  const written = (from: number) =>
    text(from)
      .map((each, at) => line(from + at, each))
      .join('');
  await folder.write('0.log', written(0));
  const gate = Promise.withResolvers<void>();
  const followed = folder.follow({ until: gate.promise });
  await followed.until(joinLines(text(0)));
  for (const [index, from] of [10, 20, 30, 40].entries()) {
    await folder.rotate(`0.log.20260504-12001${index}`);
    await folder.append('0.log', written(from));
    if (index > 0) await folder.pack(`0.log.20260504-12001${index - 1}`);
  }
  gate.resolve();
  const all = [0, 10, 20, 30, 40].flatMap(text);
  await followed.until(joinLines(all));
  expect(await followed.end()).toBe(joinLines(all));
});

test('a file that is removed before it is read is lost, and later output is returned once', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one'));
  const gate = Promise.withResolvers<void>();
  const followed = folder.follow({ until: gate.promise });
  await followed.until('one\n');
  await folder.append('0.log', line(1, 'two'));
  await folder.rotate('0.log.20260504-120010');
  await folder.append('0.log', line(10, 'lost'));
  await folder.rotate('0.log.20260504-120020');
  await folder.append('0.log', line(20, 'three'));
  await folder.rotate('0.log.20260504-120030');
  await folder.append('0.log', line(30, 'four'));
  await folder.remove('0.log.20260504-120010');
  await folder.remove('0.log.20260504-120020');
  gate.resolve();
  expect(await followed.end()).toBe('one\ntwo\nthree\nfour\n');
});

test('a truncated log is read from its start', async () => {
  const folder = await logFolder();
  await folder.write('0.log', lines('one', 'two'));
  const followed = folder.follow();
  await followed.until('one\ntwo\n');
  await folder.write('0.log', '');
  await folder.append('0.log', line(5, 'three'));
  await followed.until('one\ntwo\nthree\n');
  await followed.end();
});

test('during rapid rotation, every line is returned once and in order', async () => {
  const folder = await logFolder();
  await folder.write('0.log', '');
  const followed = folder.follow();
  const all: string[] = [];
  for (let rotation = 0; rotation < 30; rotation += 1) {
    for (let at = 0; at < 20; at += 1) {
      all.push(`${rotation}-${at}`);
      await folder.append('0.log', line(rotation * 20 + at, `${rotation}-${at}`));
    }
    const moment = `0.log.20260504-1200${String(rotation).padStart(2, '0')}`;
    await folder.rotate(moment);
    if (rotation % 2 === 0) await folder.pack(moment);
  }
  expect(await followed.end()).toBe(joinLines(all));
});
