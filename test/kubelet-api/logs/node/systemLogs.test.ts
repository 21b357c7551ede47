import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type SystemLogsParts, systemLogsRoute } from '../../../../kubelet-api/logs/node/systemLogs.ts';
import { ask, begin, serve } from '../servedLogs.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statelet-system-logs-'));
  await mkdir(join(folder, 'log', 'pods'), { recursive: true });
  await writeFile(join(folder, 'secret'), 'secret');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const at = (...names: string[]) => join(folder, 'log', ...names);

/** A fake `journalctl` that knows two services and prints its arguments. */
const JOURNAL = `#!/bin/sh
if [ "$1" = --field ]; then echo kubelet.service; echo containerd.service; exit; fi
for each; do echo "$each"; done
echo 'no more' >&2`;

async function servedBy(more: Partial<SystemLogsParts> = {}) {
  const journalctl = join(folder, 'journalctl');
  await writeFile(journalctl, JOURNAL, { mode: 0o755 });
  const parts = { root: join(folder, 'log'), journalctl, areQueriesEnabled: false, ...more };
  return serve(systemLogsRoute(parts));
}

const served = async (more: Partial<SystemLogsParts> = {}): Promise<number> => (await servedBy(more)).port;

const get = async (path: string, headers = {}) => ask(await served(), path, headers);
const query = async (path: string, headers = {}) =>
  ask(await served({ areQueriesEnabled: true }), `/logs/${path}`, headers);

test('C39: a directory is a page of links, whatever the names are', async () => {
  for (const name of ['b.log', '<a>&"\'.log', 'a b?%.log', 'x:y', 'ü']) await writeFile(at(name), '');
  await writeFile(Buffer.concat([Buffer.from(`${at()}/`), Buffer.from([0xff])]), '');
  await symlink(at('pods'), at('link'));
  const answer = await get('/logs/');
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(answer.text.split('\n')).toEqual([
    '<!doctype html>',
    '<meta name="viewport" content="width=device-width">',
    '<pre>',
    '<a href="%3Ca%3E&%22%27.log">&lt;a&gt;&amp;&#34;&#39;.log</a>',
    '<a href="a%20b%3F%25.log">a b?%.log</a>',
    '<a href="b.log">b.log</a>',
    '<a href="link">link</a>',
    '<a href="pods/">pods/</a>',
    '<a href="./x:y">x:y</a>',
    '<a href="%C3%BC">ü</a>',
    '<a href="%FF">\ufffd</a>',
    '</pre>',
    '',
  ]);
});

test('the URL of a directory has a trailing slash, that of a file has none', async () => {
  await writeFile(at('a b.log'), 'text');
  const moved = (location: string) => ({ status: 301, text: '', headers: { location } });
  expect(await get('/logs/pods')).toMatchObject(moved('pods/'));
  expect(await get('/logs/pods?x=1')).toMatchObject(moved('pods/?x=1'));
  expect(await get('/logs/a%20b.log/')).toMatchObject(moved('../a%20b.log'));
  expect(await get('/logs/pods/index.html')).toMatchObject(moved('./'));
  await writeFile(at('pods', 'index.html'), 'page');
  const page = { status: 200, text: 'page', headers: { 'content-type': 'text/html; charset=utf-8' } };
  expect(await get('/logs/pods/')).toMatchObject(page);
});

test.each([
  ['a.log', 'text \u001b[1m', 'text/plain; charset=utf-8'],
  ['a.bin', 'a\0b', 'application/octet-stream'],
  ['a.log.gz', '\u001f\u008b\u0008', 'application/x-gzip'],
  ['a.json', '{}', 'application/json'],
])('%s is sent with its content type', async (name, text, type) => {
  await writeFile(at(name), text, 'latin1');
  const { status, headers } = await get(`/logs/${name}`);
  expect({ status, type: headers['content-type'], length: headers['content-length'] }).toEqual({
    status: 200,
    type,
    length: String(text.length),
  });
});

test.each([
  ['bytes=1-2', 206, 'bc', 'bytes 1-2/5'],
  ['bytes=3-', 206, 'de', 'bytes 3-4/5'],
  ['bytes=-2', 206, 'de', 'bytes 3-4/5'],
  ['bytes=-9', 206, 'abcde', 'bytes 0-4/5'],
  ['bytes=3-99', 206, 'de', 'bytes 3-4/5'],
  ['bytes=5-', 416, 'invalid range: failed to overlap\n', 'bytes */5'],
  ['bytes=3-1', 416, 'invalid range\n', 'bytes */5'],
  ['lines=1-2', 416, 'invalid range\n', 'bytes */5'],
  ['bytes=0-0,2-2', 200, 'abcde', undefined],
])('a range of a file is returned or rejected: %s', async (range, status, text, part) => {
  await writeFile(at('a.log'), 'abcde');
  const answer = await get('/logs/a.log', { range });
  expect(answer).toMatchObject({ status, text });
  expect(answer.headers['content-range']).toBe(part);
});

test('a file that the client has cached is not sent again', async () => {
  await writeFile(at('a.log'), 'abc');
  await utimes(at('a.log'), 1_000.5, 1_000.5);
  const since = (ms: number) => ({ 'if-modified-since': new Date(ms).toUTCString() });
  expect((await get('/logs/a.log')).headers['last-modified']).toBe(new Date(1_000_000).toUTCString());
  expect(await get('/logs/a.log', since(1_000_000))).toMatchObject({ status: 304, text: '' });
  expect(await get('/logs/a.log', since(999_000))).toMatchObject({ status: 200, text: 'abc' });
});

test('C39: no path escapes from the directory', async () => {
  await symlink('../secret', at('relative'));
  await symlink(join(folder, 'secret'), at('absolute'));
  await symlink(folder, at('up'));
  await symlink('nowhere', at('dangling'));
  execFileSync('mkfifo', [at('pipe')]);
  const tries = ['..%2fsecret', '%2e%2e%2fsecret', 'pods/..%2f..%2fsecret', 'relative', 'absolute', 'up/', 'up/secret'];
  for (const path of [...tries, 'dangling', 'pipe', 'none', 'a%00b', '%2f%2fetc%2fpasswd', '..%5csecret'])
    expect([path, await get(`/logs/${path}`)]).toMatchObject([path, { status: 404, text: '404 page not found\n' }]);
  expect(await get('/logs/%zz')).toMatchObject({ status: 400 });
});

test('a file that shrinks while it is sent closes the connection', async () => {
  await writeFile(at('a.log'), '');
  await truncate(at('a.log'), 100 * 1_024 * 1_024);
  const { port, server } = await servedBy();
  // The connection must not be closed by this timeout instead.
  server.keepAliveTimeout = 600_000;
  const answer = await begin(port, '/logs/a.log', { connection: 'keep-alive' });
  await truncate(at('a.log'), 1_000);
  const cut = (async () => {
    for await (const _ of answer);
  })();
  await expect(cut).rejects.toThrow('aborted');
});

test.each([
  ['?query=', 400, 'query: Invalid value: [""]: query cannot be empty'],
  ['?query=%20', 400, 'query: Invalid value: [" "]: query cannot be empty'],
  ['?query=a&sinceTime=now', 400, 'sinceTime: Invalid value: "now": invalid time format'],
  ['?query=a&boot=x', 400, 'boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
  [
    '?query=a&tailLines=1.5&untilTime=x',
    400,
    '[untilTime: Invalid value: "x": invalid time format, ' +
      'tailLines: Invalid value: "1.5": strconv.Atoi: parsing "1.5": invalid syntax]',
  ],
  ['pods?query=a', 406, 'path not allowed in query mode'],
  ['?boot=0', 406, 'query: Required value: cannot be empty with options'],
  ['?query=a%20b', 406, 'query: Invalid value: "a b": input contains unsupported characters'],
  ['?query=--help', 200, undefined],
  [`?query=${'a'.repeat(257)}`, 406, `query: Invalid value: "${'a'.repeat(257)}": length must be less than 256`],
  ['?query=a&query=b&query=c&query=d&query=e', 406, 'query: Too many: 5: must have at most 4 items'],
  ['?query=a&query=b/c', 406, 'query: Invalid value: "[b/c], [a]": cannot specify a file and service'],
  ['?query=a/b&query=b/c', 406, 'query: Invalid value: ["a/b","b/c"]: cannot specify more than one file'],
  ['?query=a/b&boot=0', 406, 'query: Invalid value: ["a/b"]: cannot specify file with options'],
  ['?query=a&boot=1', 406, 'boot: Invalid value: 1: must be less than 1'],
  ['?query=a&tailLines=100001', 406, 'tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive'],
  ['?query=a&tailLines=-1', 406, 'tailLines: Invalid value: -1: must be between 0 and 100000, inclusive'],
  [
    '?query=a&sinceTime=2026-05-04T12:00:01Z&untilTime=2026-05-04T12:00:00Z',
    406,
    'untilTime: Invalid value: "2026-05-04T12:00:00Z": must be after `sinceTime`',
  ],
  ['?query=a&pattern=(', 406, 'pattern: Invalid value: "(": error parsing regexp: `(`'],
  ['?query=../secret', 406, 'query: Invalid value: ["../secret"]: statat ../secret: path escapes from parent'],
  ['?query=/none', 406, 'query: Invalid value: ["/none"]: statat none: no such file or directory'],
])('a query of the node’s logs has the status and message of a kubelet: %s', async (path, status, text) => {
  const answer = await query(path);
  expect(answer.status).toBe(status);
  if (text !== undefined) expect(answer.text).toBe(`${text}\n`);
});

test('C39: a query can return a file', async () => {
  await writeFile(at('a.log'), 'abc');
  expect(await query('?query=/a.log')).toMatchObject({ status: 200, text: 'abc' });
  expect(await query('?query=./a.log')).toMatchObject({ status: 200, text: 'abc' });
  // If queries are not enabled, the server ignores the parameter and returns the directory.
  expect((await get('/logs/?query=/a.log')).text).toContain('<a href="a.log">');
});

test('the journal is queried for the services that it knows, with each option as one argument', async () => {
  const options =
    'sinceTime=2026-05-04T14:00:00%2B02:00&untilTime=2026-05-04T12:00:01Z&tailLines=5&boot=-1&pattern=a%20-b';
  const answer = await query(`?query=kubelet&query=containerd&${options}`);
  expect(answer.headers['content-type']).toBe('text/plain;charset=UTF-8');
  expect(answer.text.split('\n')).toEqual([
    '--utc',
    '--no-pager',
    '--output=short-precise',
    '--since=2026-05-04 12:00:00 UTC',
    '--until=2026-05-04 12:00:01 UTC',
    '--pager-end',
    '--lines=5',
    '--unit=kubelet',
    '--unit=containerd',
    '--grep=a -b',
    '--case-sensitive=false',
    '--boot=-1',
    'no more',
    '',
  ]);
});

test('other services are read from log files, if there are any', async () => {
  await mkdir(at('c'));
  for (const name of ['a', 'b.log', 'c/c.log']) await writeFile(at(name), `${name}\n`);
  await symlink(join(folder, 'secret'), at('d'));
  expect((await query('?query=a&query=b&query=c')).text).toBe('a\nb.log\nc/c.log\n');
  expect((await query('?query=x&query=d&query=..')).text).toBe(
    '\nlog not found for x\n\nerror getting log for d: path escapes from parent\n\nerror getting log for ..: path escapes from parent\n',
  );
  execFileSync('mkfifo', [at('e.log')]);
  expect((await query('?query=e')).text).toBe('\nerror getting log for e: not a regular file\n');
  expect((await query('?query=kubelet&query=a&boot=0')).text).toBe(
    '\noptions present and query resolved to log files for [a]\ntry without specifying options\n',
  );
});

test('the response to a query is compressed if the client accepts only that', async () => {
  const answer = await begin(await served({ areQueriesEnabled: true }), '/logs/?query=kubelet', {
    'accept-encoding': 'gzip',
  });
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  expect(answer.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(Buffer.concat(chunks)).toString()).toContain('--unit=kubelet\n');
});

test('without a journal its services are looked up in log files', async () => {
  const port = await served({ areQueriesEnabled: true, journalctl: join(folder, 'none') });
  expect((await ask(port, '/logs/?query=kubelet')).text).toBe('\nlog not found for kubelet\n');
});
