import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Kubeconfig } from '../../node/config/kubeconfig.ts';
import { kubeEndpoint } from '../../node/kubeEndpoint.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'endpoint-'));
});
afterAll(() => rm(folder, { recursive: true }));

const file = (name: string) => join(folder, name);
const endpoint = (user: Kubeconfig['user'], cluster: Partial<Kubeconfig['cluster']> = {}, now = () => 0) =>
  kubeEndpoint({ cluster: { server: 'https://192.0.2.1:6443/prefix/', ...cluster }, user }, now);

test('an address is an origin and what stands before every path', () => {
  expect(endpoint({}, { 'tls-server-name': 'api.example' })).toMatchObject({
    ...{ origin: 'https://192.0.2.1:6443', basePath: '/prefix', serverName: 'api.example', isInsecure: false },
  });
  expect(endpoint({}, { server: 'https://[::1]', 'insecure-skip-tls-verify': true })).toMatchObject({
    ...{ origin: 'https://[::1]', basePath: '', isInsecure: true },
  });
});

test('what stands in the kubeconfig wins over a file, and a file is read each time', async () => {
  await writeFile(file('ca'), 'A');
  await writeFile(file('crt'), 'first');
  const { pems } = endpoint(
    { 'client-certificate': file('crt'), 'client-key': file('missing'), 'client-key-data': 'K' },
    { 'certificate-authority': file('ca') },
  );
  expect(await pems()).toEqual({ ca: 'A', cert: 'first', key: 'K' });
  await writeFile(file('crt'), 'second');
  expect(await pems()).toMatchObject({ cert: 'second' });
});

test('nobody is trusted beside the host, and nobody asks, where nothing is said of it', async () => {
  const { pems, token } = endpoint({});
  expect([await pems(), await token()]).toEqual([{}, undefined]);
});

test('a file that is not there is told with its name', async () => {
  const { pems } = endpoint({ 'client-certificate': file('none') });
  await expect(pems()).rejects.toThrow(`no such file or directory, open '${file('none')}'`);
});

test('a token in a file wins, and is read again after a minute', async () => {
  await writeFile(file('token'), 'first\n');
  let now = 0;
  const { token } = endpoint({ token: 'other', tokenFile: file('token') }, {}, () => now);
  expect(await token()).toBe('first');
  await writeFile(file('token'), 'second\n');
  now = 59_999;
  expect(await token()).toBe('first');
  now = 60_000;
  expect(await token()).toBe('second');
});

test('a token that is known is borne for as long as its file cannot be read, or is empty', async () => {
  await writeFile(file('kept'), 'good');
  let now = 0;
  const { token } = endpoint({ tokenFile: file('kept') }, {}, () => now);
  expect(await token()).toBe('good');
  now = 60_000;
  await rm(file('kept'));
  expect(await token()).toBe('good');
  await writeFile(file('kept'), ' \n');
  expect(await token()).toBe('good');
  await writeFile(file('kept'), 'next');
  expect(await token()).toBe('next');
});

test('an empty token file is told: nobody asks with a token of nothing', async () => {
  await writeFile(file('empty'), '\n');
  await expect(endpoint({ tokenFile: file('empty') }).token()).rejects.toThrow(
    `the token file ${file('empty')} is empty`,
  );
  await expect(endpoint({ tokenFile: file('none') }).token()).rejects.toThrow('no such file');
});

test('a token that is refused is read again at once', async () => {
  await writeFile(file('refused'), 'first');
  const { token, refused } = endpoint({ tokenFile: file('refused') });
  expect(await token()).toBe('first');
  await writeFile(file('refused'), 'second');
  expect(await token()).toBe('first');
  refused();
  expect(await token()).toBe('second');
});
