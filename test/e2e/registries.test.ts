/** Real pulls from TLS registries that require authentication, with the credentials of pods and plugins. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ImageClaims } from '../../actors/images/imageClaims.ts';
import { podCredentials } from '../../actors/images/podCredentials.ts';
import { PullProofs } from '../../actors/images/pullProofs.ts';
import { imageServices } from '../../actors/services/images/imageServices.ts';
import type { FindCredentials } from '../../actors/services/images/nodeCredentials.ts';
import { NodeFailure } from '../../base/failure.ts';
import { systemClock } from '../../base/time/clock.ts';
import { imageSpec } from '../../cri/images/imageSpec.ts';
import { BUSYBOX_IMAGE, buildHostImages } from '../../cri/managed/images/images.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { ObjectNotFound, type PodObjects } from '../../kubernetes/objects/podObjects.ts';
import { createCredentialFinder } from '../../node/credentials/createCredentialFinder.ts';
import { node, pod } from '../cri/nodeAndPod.ts';
import { noAbort, startTestContainerd } from './support/containerd.ts';
import { forAllTests } from './support/forAllTests.ts';
import { tlsRegistry, tokenRegistry } from './support/registry.ts';
import { registryCertificate } from './support/registryCertificate.ts';

const USERS = ['one', 'two', 'plugin'].map((username) => ({ username, password: `hunter2-of-${username}` }));
const image = (await buildHostImages(noAbort)).find(({ name }) => name === BUSYBOX_IMAGE);
if (image === undefined) throw new Error(`${BUSYBOX_IMAGE} is not among the images of the host`);
const runtime = await forAllTests(() => startTestContainerd([], { registries: true }));
const basic = await forAllTests(() => tlsRegistry(image, USERS));
const bearer = await forAllTests(() => tokenRegistry(image, USERS));
const options = { signal: noAbort };

/** Tells containerd which CA has signed the certificate of a registry. */
for (const { host } of [basic, bearer]) {
  const directory = join(runtime.directory, 'certs.d', host);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'ca.crt'), registryCertificate);
  const server = JSON.stringify(`https://${host}`);
  const ca = JSON.stringify(join(directory, 'ca.crt'));
  await writeFile(join(directory, 'hosts.toml'), `server = ${server}\n\n[host.${server}]\n  ca = ${ca}\n`);
}

/** Secrets for the user in their name. A suffix in the name results in a wrong password. */
const objects: PodObjects = {
  get: async (_, kind, name) => {
    if (name === 'none') throw new ObjectNotFound(kind, name);
    const [username = '', wrong] = name.split('-');
    const entry = { username, password: `hunter2-of-${username}${wrong ?? ''}` };
    const auths = Object.fromEntries([basic, bearer].map(({ host }) => [host, entry]));
    return {
      kind,
      namespace: 'shop',
      name,
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      isImmutable: false,
      type: 'kubernetes.io/dockerconfigjson',
      data: new Map([['.dockerconfigjson', Buffer.from(JSON.stringify({ auths }))]]),
    };
  },
};

let root = '';
let count = 0;
beforeEach(async () => {
  count += 1;
  root = join(runtime.directory, `root-${count}`);
  await mkdir(root);
});

/** Returns the image services of a new agent with this root directory. */
const life = (findCredentials: FindCredentials = async () => []) =>
  imageServices({
    cri: runtime.cri,
    clock: systemClock,
    node: () => node(),
    credentials: podCredentials({ findCredentials, objects }),
    claims: new ImageClaims(),
    proofs: new PullProofs({
      rootDir: root,
      files: hostFiles,
      clock: systemClock,
      cri: runtime.cri,
      onError: (_, error) => {
        throw error;
      },
    }),
  });

const podWith = (...names: readonly string[]) => pod({ imagePullSecrets: names.map((name) => ({ name })) });
const describeError = (error: unknown) =>
  error instanceof NodeFailure ? `${error.reason}: ${error.message}` : String(error);
const pull = (services: ReturnType<typeof life>, name: string, ...secrets: readonly string[]) =>
  services.pullImage({ pod: podWith(...secrets), image: name, limitMs: 60_000 }, options).catch(describeError);
const find = (services: ReturnType<typeof life>, name: string, ...secrets: readonly string[]) =>
  services.findImage({ pod: podWith(...secrets), image: name, policy: 'IfNotPresent' }, options);
const isThere = async (name: string) =>
  (await runtime.cri.imageStatus({ image: imageSpec(name), verbose: false }, options)).image !== undefined;

describe.each([
  ['a password', basic],
  ['a token', bearer],
])('C16: a registry that requires %s', (_, registry) => {
  test('rejects a pull without credentials or with wrong ones', async () => {
    const name = `${registry.host}/closed:1`;
    for (const secrets of [[], ['one-wrong'], ['none']]) {
      expect(await pull(life(), name, ...secrets)).toMatch(/^ErrImagePull: .*(401|authorization failed|unauthorized)/i);
    }
    expect(await isThere(name)).toBe(false);
    expect(await readdir(join(root, 'image_manager/pulling'))).toEqual([]);
  });

  test('accepts the valid ones of several credentials, tried in order', async () => {
    const before = registry.requestUsers.length;
    const name = `${registry.host}/team/app:1`;
    expect(await pull(life(), name, 'one-wrong', 'two')).toMatchObject({ sizeBytes: expect.any(Number) });
    const users = registry.requestUsers.slice(before).filter((user) => user !== '');
    expect([users[0], users.at(-1)]).toEqual(['one', 'two']);
    expect(await isThere(name)).toBe(true);
  });
});

test('C17: another pod must pull the image of a pod again, which only its registry can permit', async () => {
  const name = `${bearer.host}/private:1`;
  expect(await pull(life(), name, 'one')).toMatchObject({ imageRef: expect.stringMatching(/^sha256:/) });
  // The same holds after an agent restart.
  const next = life();
  expect(await find(next, name, 'one')).not.toHaveProperty('isUnproven');
  expect(await find(next, name)).toMatchObject({ isUnproven: true });
  expect(await pull(next, name, 'two-wrong')).toMatch(/^ErrImagePull: /);
  expect(await find(next, name, 'two')).toMatchObject({ isUnproven: true });
  await pull(next, name, 'two');
  expect(await find(next, name, 'two')).not.toHaveProperty('isUnproven');

  const [record = ''] = await readdir(join(root, 'image_manager/pulled'));
  const text = await readFile(join(root, 'image_manager/pulled', record), 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    kind: 'ImagePulledRecord',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    credentialMapping: { [`${bearer.host}/private`]: { kubernetesSecrets: [{ name: 'one' }, { name: 'two' }] } },
  });
  expect(text).not.toContain('hunter2');
});

test('the credentials of a plugin belong to the node, so every pod may use the image', async () => {
  const name = `${bearer.host}/plugged:1`;
  const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
  const provider = {
    name: 'plugin',
    apiVersion,
    matchImages: [`127.0.0.*:${bearer.host.split(':')[1]}`],
    defaultCacheDuration: '1m',
  };
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
  await writeFile(join(root, 'plugins.json'), JSON.stringify(config));
  const auth = { [bearer.host]: { username: 'plugin', password: 'hunter2-of-plugin' } };
  const answer = JSON.stringify({ kind: 'CredentialProviderResponse', apiVersion, cacheKeyType: 'Registry', auth });
  await writeFile(join(root, 'plugin'), `#!/bin/sh\ncat >> ${root}/requests\necho '${answer}'\n`, { mode: 0o755 });
  const reports: string[] = [];
  const places = { config: join(root, 'plugins.json'), binDir: root };
  const credentials = await createCredentialFinder(
    { rootDirectory: root, credentialProviders: places },
    { logWarning: (message) => void reports.push(message), signal: noAbort },
  );
  const services = life(credentials);
  expect(await pull(services, name, 'one-wrong')).toMatchObject({ imageRef: expect.any(String) });
  expect(await pull(services, `${bearer.host}/another:1`)).toMatchObject({ imageRef: expect.any(String) });
  expect(await find(services, name)).not.toHaveProperty('isUnproven');
  // The plugin was called once for the whole registry.
  expect(
    (await readFile(join(root, 'requests'), 'utf8'))
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each).image),
  ).toEqual([`${bearer.host}/plugged`]);
  expect(reports).toEqual([]);
});
