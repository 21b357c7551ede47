import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readCredentialProviders, readProviderConfig } from '../../../node/credentials/credentialProviders.ts';

const V1 = 'credentialprovider.kubelet.k8s.io/v1';
let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-providers-'));
  await mkdir(join(directory, 'bin'));
  for (const name of ['one', 'two']) await putProgram(name);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function putProgram(name: string, mode = 0o755): Promise<void> {
  await writeFile(join(directory, 'bin', name), '#!/bin/sh\n');
  await chmod(join(directory, 'bin', name), mode);
}

const provider = (over: object = {}) => ({
  name: 'one',
  apiVersion: V1,
  matchImages: ['*.example'],
  defaultCacheDuration: '10m',
  ...over,
});
const config = (...providers: readonly object[]) =>
  JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers });

async function read(text: string, file = 'config.yaml') {
  await mkdir(join(directory, 'etc'), { recursive: true });
  await writeFile(join(directory, 'etc', file), text);
  return readCredentialProviders({ config: join(directory, 'etc', file), binDir: join(directory, 'bin') });
}

const refusal = async (reading: Promise<unknown>): Promise<string> => {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Error ? error.message.replaceAll(directory, '') : 'none';
};

const token = {
  serviceAccountTokenAudience: 'registry',
  cacheType: 'Token',
  requireServiceAccount: true,
  requiredServiceAccountAnnotationKeys: ['example.com/role'],
};

describe('the configuration of credential provider plugins', () => {
  test('may contain nulls, which are the zero values of their types', async () => {
    const env = [{ name: 'REGION', value: null }];
    expect(await read(config(provider({ args: null, env, tokenAttributes: null })))).toMatchObject([
      { args: [], env: [{ name: 'REGION', value: '' }] },
    ]);
    expect(await read(config(provider({ args: ['get', null] })))).toMatchObject([{ args: ['get', ''] }]);
    const undecided = provider({ tokenAttributes: { ...token, requireServiceAccount: null } });
    expect(await refusal(read(config(undecided)))).toContain('requireServiceAccount: expected true or false');
  });

  test('is read with all fields that a kubelet knows', async () => {
    const env = [{ name: 'REGION', value: 'x' }];
    const [given] = await read(config(provider({ args: ['get'], env, tokenAttributes: token })));
    expect(given).toEqual({
      name: 'one',
      apiVersion: V1,
      matchImages: ['*.example'],
      defaultCacheMs: 600_000,
      args: ['get'],
      env,
      token: {
        audience: 'registry',
        cacheType: 'Token',
        isRequired: true,
        requiredAnnotations: ['example.com/role'],
        optionalAnnotations: [],
      },
    });
  });

  test('may consist of several files of a directory in the order of their names, and other files are ignored', async () => {
    const file = async (name: string, text: string) => void (await read(text, name).catch(() => {}));
    await file('b.yml', config(provider({ name: 'one' })));
    await file('a.json', config(provider({ name: 'two' })));
    await file('c.txt', 'nothing');
    const places = { config: join(directory, 'etc'), binDir: join(directory, 'bin') };
    expect((await readCredentialProviders(places)).map(({ name }) => name)).toEqual(['two', 'one']);
    await file('c.yaml', config(provider({ name: 'two' })));
    expect(await refusal(readCredentialProviders(places))).toBe('/etc: duplicate provider "two"');
  });

  test.each([
    ['no such file', { config: '/nowhere/at/all', binDir: '/bin' }, 'ENOENT: no such file'],
    ['no directory of programs', { config: '/etc/x', binDir: '' }, 'needs --image-credential-provider-bin-dir'],
    ['no configuration', { config: '', binDir: '/bin' }, 'needs --image-credential-provider-config'],
  ])('is rejected: %s', async (_, places, why) => {
    expect(await refusal(readCredentialProviders(places))).toContain(why);
  });

  test('is rejected if its directory contains no configuration', async () => {
    const places = { config: join(directory, 'bin'), binDir: join(directory, 'bin') };
    expect(await refusal(readCredentialProviders(places))).toContain('no configuration in /bin');
  });

  test.each([
    [config(), 'providers: needs at least one entry'],
    [config(provider({ name: '../one' })), 'providers[0].name: expected the name of a program'],
    [config(provider({ name: '..' })), 'providers[0].name: expected the name of a program'],
    [
      config(provider({ apiVersion: 'v2' })),
      'providers[0].apiVersion: expected one of "credentialprovider.kubelet.k8s.io/v1alpha1"',
    ],
    [config(provider({ matchImages: [] })), 'providers[0].matchImages: needs at least one entry'],
    [config(provider({ matchImages: ['r.example:port'] })), 'providers[0].matchImages[0]: expected an image such as'],
    [config(provider({ defaultCacheDuration: undefined })), 'providers[0].defaultCacheDuration: expected a duration'],
    [config(provider({ defaultCacheDuration: '-1s' })), 'providers[0].defaultCacheDuration: expected a duration'],
    [config(provider({ arg: [] })), 'providers[0].arg: unknown field; did you mean args?'],
    [config(provider({ apiVersion: `${V1}beta1`, tokenAttributes: token })), 'tokenAttributes: needs apiVersion'],
    [
      config(provider({ tokenAttributes: { ...token, requireServiceAccount: false } })),
      'requiredServiceAccountAnnotationKeys: needs requireServiceAccount',
    ],
    [
      config(provider({ tokenAttributes: { ...token, optionalServiceAccountAnnotationKeys: ['example.com/role'] } })),
      'tokenAttributes: must not name an annotation twice',
    ],
    [
      config(provider({ tokenAttributes: { ...token, requiredServiceAccountAnnotationKeys: ['a b'] } })),
      'requiredServiceAccountAnnotationKeys[0]: expected the key of an annotation',
    ],
    [config(provider({ tokenAttributes: { ...token, cacheType: undefined } })), 'cacheType: expected one of'],
    [config(provider({ name: 'three' })), '--image-credential-provider-bin-dir: /bin/three is not an executable file'],
    ['kind: [', '/etc/config.yaml: '],
  ])('with the content %s is rejected: %s', async (text, why) => {
    expect(await refusal(read(text))).toContain(why);
  });

  test('is rejected if a program is not executable', async () => {
    await putProgram('one', 0o644);
    expect(await refusal(read(config(provider())))).toContain('/bin/one is not an executable file');
  });

  test('is rejected without repeating the arguments and the environment of a plugin', async () => {
    const why = await refusal(
      read(config(provider({ args: 'hunter2', env: [{ name: 'PASSWORD', value: 5 }, 'hunter2'] }))),
    );
    expect(why).toContain('providers[0].args');
    expect(why).not.toContain('hunter2');
  });
});

test('the hash covers the files in their order, each after its length', async () => {
  await mkdir(join(directory, 'etc'));
  const texts = { 'b.yaml': config(provider({ name: 'two' })), 'a.json': config(provider({ env: [] })) };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(directory, 'etc', name), text);
  const { hash } = await readProviderConfig({ config: join(directory, 'etc'), binDir: join(directory, 'bin') });
  const length = (text: string) => Buffer.from([0, 0, 0, 0, 0, 0, text.length >> 8, text.length & 0xff]);
  const hashed = [texts['a.json'], texts['b.yaml']].flatMap((text) => [length(text), Buffer.from(text)]);
  expect(hash).toBe(`sha256:${createHash('sha256').update(Buffer.concat(hashed)).digest('hex')}`);
});
