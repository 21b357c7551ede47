import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ask, ID, line, servedLogs, stamp } from '../servedLogs.ts';

const LOG =
  line(0, 'one') +
  line(1, 'err', { stream: 'stderr' }) +
  line(2, 'part', { tags: 'P' }) +
  line(2, 'of three', { tags: 'F' }) +
  line(4, 'four');

test.each([
  ['', 'one\nerr\npartof three\nfour\n'],
  ['?follow=false&previous=0', 'one\nerr\npartof three\nfour\n'],
  // An incomplete line counts as a line. Its continuation has no timestamp of its own.
  ['?tailLines=3', 'partof three\nfour\n'],
  ['?tailLines=2', 'of three\nfour\n'],
  ['?tail=1', 'four\n'],
  ['?tail=1&tailLines=4', 'four\n'],
  ['?tail=all&tailLines=1', 'one\nerr\npartof three\nfour\n'],
  ['?tailLines=0', ''],
  ['?tailLines=100', 'one\nerr\npartof three\nfour\n'],
  ['?timestamps=true&tailLines=3', `${stamp(2)} partof three\n${stamp(4)} four\n`],
  ['?timestamps&tailLines=1', `${stamp(4)} four\n`],
  // The clock is at ten seconds after noon. The timestamp of each line is 123456 ns after its second.
  ['?sinceSeconds=8', 'partof three\nfour\n'],
  ['?sinceTime=2026-05-04T12:00:04Z', 'four\n'],
  ['?sinceTime=2026-05-04T12:00:04.000123456Z', 'four\n'],
  ['?sinceTime=2026-05-04T12:00:04.000123457Z', ''],
  ['?sinceTime=2026-05-04T14:00:04%2B02:00', 'four\n'],
  ['?sinceTime=', 'one\nerr\npartof three\nfour\n'],
  ['?sinceTime=null', 'one\nerr\npartof three\nfour\n'],
  // `tailLines` also counts lines that `sinceSeconds` then leaves out.
  ['?tailLines=3&sinceSeconds=7', 'four\n'],
  ['?limitBytes=6', 'one\ner'],
  ['?limitBytes=4', 'one\n'],
  [`?limitBytes=32&timestamps=1`, `${stamp(0)} o`],
  ['?stream=All', 'one\nerr\npartof three\nfour\n'],
])('C40: the log is returned for the query "%s"', async (query, text) => {
  const served = await servedLogs();
  await served.write(LOG);
  const answer = await served.get(query);
  expect(answer).toMatchObject({ status: 200, text });
  expect(answer.headers).not.toHaveProperty('content-type');
  expect(answer.headers['transfer-encoding']).toBe('chunked');
});

const UNDECODABLE = '{"message": "Unable to decode query."}';
const INVALID = '{"message": "Invalid request."}';

test.each([
  ['?tailLines=x', 400, UNDECODABLE],
  ['?tailLines=', 400, UNDECODABLE],
  ['?tail=x', 400, UNDECODABLE],
  ['?tailLines=9223372036854775808', 400, UNDECODABLE],
  ['?limitBytes=1.5', 400, UNDECODABLE],
  ['?sinceTime=yesterday', 400, UNDECODABLE],
  ['?sinceTime=2026-02-30T12:00:00Z', 400, UNDECODABLE],
  ['?tailLines=-1', 422, INVALID],
  ['?limitBytes=0', 422, INVALID],
  ['?sinceSeconds=0', 422, INVALID],
  ['?sinceSeconds=1&sinceTime=2026-05-04T12:00:04Z', 422, INVALID],
  ['?sinceSeconds=1&sinceTime=', 422, INVALID],
  ['?stream=stdout', 422, INVALID],
  ['?stream=Stdout&tailLines=1', 422, INVALID],
  [
    '?stream=Stdout',
    400,
    'unable to return the given log stream: "Stdout". Please enable PodLogsQuerySplitStreams feature gate in kubelet',
  ],
])('C40: an invalid query is rejected: %s', async (query, status, text) => {
  const answer = await (await servedLogs()).get(query);
  expect(answer).toMatchObject({ status, text });
  expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
});

test.each([
  ['/containerLogs/default/db/main', 'pod "db" does not exist'],
  ['/containerLogs/other/web/main', 'pod "web" does not exist'],
  ['/containerLogs/default/web/%22a%0A', 'container "\\"a\\n" not found in pod "web"'],
  ['/containerLogs/default/web', '404: Page Not Found'],
  ['/containerLogs/default/web/main/more', '404: Page Not Found'],
  ['/containerLogs/default/web%zz/main', '404: Page Not Found'],
])('C40: a missing container is not found: %s', async (path, text) => {
  const { port } = await servedLogs();
  expect(await ask(port, path)).toMatchObject({ status: 404, text });
});

const named = 'container "main" in pod "web"';

test.each([
  [{ waiting: { reason: 'ErrImagePull' } }, '', `${named} is waiting to start: image can't be pulled`],
  [{ waiting: { reason: 'ImagePullBackOff' } }, '', `${named} is waiting to start: trying and failing to pull image`],
  [{ waiting: { reason: 'ContainerCreating' } }, '', `${named} is waiting to start: ContainerCreating`],
  [{ terminated: { exitCode: 1 } }, '', `${named} is terminated`],
  [{ running: {} }, '?previous=true', `previous terminated ${named} not found`],
])('C40: a container with the state %j has no log for the query "%s"', async (state, query, text) => {
  const served = await servedLogs();
  served.told.state = state;
  const answer = await served.get(query);
  expect(answer).toMatchObject({ status: 400, text });
  expect(answer.headers).not.toHaveProperty('content-type');
});

test('C40: a container without a status yet has no log', async () => {
  const { port, told } = await servedLogs();
  told.hasStatus = false;
  const text = 'container "first" in pod "web" is not available';
  expect(await ask(port, '/containerLogs/default/web/first')).toMatchObject({ status: 400, text });
});

test('C40: a container in back-off has the log of its last run', async () => {
  const served = await servedLogs();
  await served.write(LOG);
  served.told.state = { waiting: { reason: 'CrashLoopBackOff' } };
  served.told.lastState = { terminated: { exitCode: 1, containerID: 'containerd://last' } };
  expect(await served.get('?tailLines=1')).toMatchObject({ status: 200, text: 'four\n' });
  expect(await served.get('?previous=1&tailLines=1')).toMatchObject({ status: 200, text: 'four\n' });
});

test('C40: a late error is returned as text', async () => {
  const served = await servedLogs();
  served.told.runtime = new Error('gone');
  expect(await served.get()).toMatchObject({ status: 200, text: `unable to retrieve container logs for ${ID}` });
});

test('C40: streams can be separated if the feature gate is on, and then the headers wait for the runtime', async () => {
  const served = await servedLogs({ canSplitStreams: true });
  await served.write(LOG);
  expect((await served.get('?stream=Stdout')).text).toBe('one\npartof three\nfour\n');
  expect((await served.get('?stream=Stderr&limitBytes=3')).text).toBe('err');
  expect((await served.get('?stream=stderr')).status).toBe(422);
  served.told.runtime = new Error('gone');
  const late = `unable to retrieve container logs for ${ID}`;
  expect(await served.get('?stream=Stderr')).toMatchObject({ status: 400, text: late });
  expect(await served.get('?stream=Stdout')).toMatchObject({ status: 200, text: late });
});

test('a file that is not a log of this node is neither read nor waited for', async () => {
  const served = await servedLogs();
  const at = (name: string) => join(served.file, '..', name);
  await writeFile(join(served.root, 'secret'), 'secret');
  await symlink(join(served.root, 'secret'), at('link.log'));
  await symlink(at('loop.log'), at('loop.log'));
  await mkdir(at('directory.log'));
  execFileSync('mkfifo', [at('pipe.log')]);
  const saysOf = async (path: string) => {
    served.told.logPath = path;
    return (await served.get('?follow=true')).text;
  };
  const unresolved = (path: string, why: string) => `failed to try resolving symlinks in path "${path}": ${why}`;
  expect(await saysOf(at('link.log'))).toBe(unresolved(at('link.log'), 'path escapes from parent'));
  expect(await saysOf('/etc/passwd')).toBe(unresolved('/etc/passwd', 'path escapes from parent'));
  expect(await saysOf(at('../../../secret'))).toBe(unresolved(at('../../../secret'), 'path escapes from parent'));
  expect(await saysOf(at('loop.log'))).toBe(unresolved(at('loop.log'), 'too many levels of symbolic links'));
  expect(await saysOf(at('none.log'))).toBe(unresolved(at('none.log'), 'no such file or directory'));
  expect(await saysOf(at('directory.log'))).toContain('is a directory');
  expect(await saysOf(at('pipe.log'))).toContain('not a regular file');
});

test('an incomplete line is returned, but does not count among the last lines', async () => {
  const served = await servedLogs();
  await served.write(LOG.slice(0, -2));
  expect((await served.get()).text).toBe('one\nerr\npartof three\nfou');
  expect((await served.get('?tailLines=1')).text).toBe('of three\n');
  expect((await served.get('?tailLines=9')).text).toBe('one\nerr\npartof three\nfou');
});

test('C40: a symlink to another log is followed', async () => {
  const served = await servedLogs();
  await served.write(LOG);
  served.told.logPath = `${served.file}.link`;
  await symlink(served.file, served.told.logPath);
  expect((await served.get('?tailLines=1')).text).toBe('four\n');
});
