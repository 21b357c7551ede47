import { readdirSync, readlinkSync } from 'node:fs';
import { appendFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { NodeFailure } from '../../../base/failure.ts';
import { StreamSessions } from '../../../kubelet-api/sessions.ts';
import { line, servedLogs } from './servedLogs.ts';

/** Returns the paths of the files below a directory that this process has open. */
const held = (root: string): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(root) ? [path] : [];
    } catch {
      return [];
    }
  });

const eventually = async (isSo: () => boolean) => {
  for (const limit = Date.now() + 10_000; !isSo(); await wait(5)) if (Date.now() > limit) throw new Error('never');
};

test('C40: headers are sent at once, and lines when they are complete, until the container has exited', async () => {
  const served = await servedLogs();
  await served.write('');
  const followed = await served.follow();
  expect(followed.answer.headers).not.toHaveProperty('content-type');
  await served.append(line(0, 'one'));
  await followed.until('one\n');
  await served.append(line(1, 'two').slice(0, -3));
  await wait(50);
  expect(followed.text()).toBe('one\n');
  await served.append(`wo\n${line(2, 'three').slice(0, -1)}`);
  await followed.until('one\ntwo\n');
  served.told.runtime = 2;
  // The final line is incomplete, so it is left out.
  expect(await followed.end()).toBe('one\ntwo\n');
});

test('a follower is a session until it or the container is gone, and a plain reader is not', async () => {
  const sessions = new StreamSessions();
  const served = await servedLogs({ sessions });
  await served.write(line(0, 'one'));
  await served.get();
  expect(sessions.open).toEqual([]);
  const [staying, leaving] = [await served.follow(), await served.follow()];
  await Promise.all([staying.until('one\n'), leaving.until('one\n')]);
  const known = { kind: 'logs', namespace: 'default', pod: 'web', container: 'main', caller: 'kube-apiserver' };
  expect(sessions.open).toMatchObject([known, known]);
  leaving.answer.destroy();
  await eventually(() => sessions.open.length === 1);
  served.told.runtime = 2;
  await staying.end();
  await eventually(() => sessions.open.length === 0);
});

test('C40: the last lines are sent, and then new ones', async () => {
  const served = await servedLogs();
  await served.write(line(0, 'one') + line(1, 'two'));
  const [last, none] = [await served.follow('?follow=1&tailLines=1'), await served.follow('?follow=1&tailLines=0')];
  await last.until('two\n');
  await served.append(line(2, 'three'));
  await Promise.all([last.until('two\nthree\n'), none.until('three\n')]);
});

test('C40: following continues in the new file after a rotation', async () => {
  const served = await servedLogs();
  await served.write(line(0, 'one'));
  const followed = await served.follow();
  await followed.until('one\n');
  for (const [at, text] of ['two', 'three', 'four'].entries()) {
    await rename(served.file, `${served.file}.${at}`);
    // The runtime may still write to the old file before it opens a new one.
    await appendFile(`${served.file}.${at}`, line(at, `late ${text}`));
    await writeFile(served.file, line(at, text));
    await eventually(() => followed.text().endsWith(`late ${text}\n${text}\n`));
  }
  expect(held(served.root)).toEqual([served.file]);
  served.told.runtime = 2;
  expect(await followed.end()).toBe('one\nlate two\ntwo\nlate three\nthree\nlate four\nfour\n');
});

test('an incomplete line in the rotated file is not joined with the new file', async () => {
  const served = await servedLogs();
  await served.write(line(0, 'one') + line(1, 'unfinished').slice(0, -1));
  const followed = await served.follow();
  await followed.until('one\n');
  await served.rotate();
  await served.append(line(2, 'two'));
  await followed.until('one\ntwo\n');
});

test('a removed file is read until there is a new one', async () => {
  const served = await servedLogs();
  await served.write(line(0, 'one'));
  const followed = await served.follow();
  await followed.until('one\n');
  await rm(served.file);
  await wait(60);
  await served.write(line(1, 'two'));
  await followed.until('one\ntwo\n');
});

test('C40: following continues while the runtime is down, and ends on any other error of the runtime', async () => {
  const served = await servedLogs();
  await served.write(line(0, 'one'));
  const followed = await served.follow();
  await followed.until('one\n');
  served.told.runtime = new NodeFailure('RuntimeUnavailable', 'away');
  const { asked } = served.told;
  await eventually(() => served.told.asked > asked + 2);
  await served.append(line(1, 'two'));
  await followed.until('one\ntwo\n');
  const cause = Object.assign(new Error('gone'), { code: status.NOT_FOUND, details: 'no such container' });
  served.told.runtime = new NodeFailure('NotFound', 'ContainerStatus: no such container', { cause });
  expect(await followed.end()).toBe('one\ntwo\nrpc error: code = NotFound desc = no such container');
});

test('following an exited container reads its log to the end', async () => {
  const served = await servedLogs();
  await served.write(line(0, 'one') + line(1, 'two'));
  served.told.runtime = 2;
  expect(await (await served.follow()).end()).toBe('one\ntwo\n');
});

test('following ends at the byte limit', async () => {
  const served = await servedLogs();
  await served.write(line(0, 'one'));
  const followed = await served.follow('?follow=true&limitBytes=6');
  await followed.until('one\n');
  await served.append(line(1, 'two'));
  expect(await followed.end()).toBe('one\ntw');
});

test('C40: a client that disconnects leaves no file open, and the runtime is not queried any more', async () => {
  const served = await servedLogs();
  await served.write(line(0, 'one'));
  const all = await Promise.all(Array.from({ length: 20 }, () => served.follow()));
  await Promise.all(all.map((followed) => followed.until('one\n')));
  expect(held(served.root)).toHaveLength(20);
  for (const { answer } of all) answer.destroy();
  await eventually(() => held(served.root).length === 0);
  const { asked } = served.told;
  await wait(100);
  expect(served.told.asked).toBe(asked);
});
