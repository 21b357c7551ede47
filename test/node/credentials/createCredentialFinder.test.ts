import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Registry } from '../../../kubelet-api/metrics/registry.ts';
import { registerProviderMetrics } from '../../../kubelet-api/metrics/requests/providerMetrics.ts';
import { createCredentialFinder } from '../../../node/credentials/createCredentialFinder.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { samplesOf } from '../../kubelet-api/metrics/support/scraped.ts';
import { aPod } from '../../kubernetes/fixtures.ts';

const V1 = 'credentialprovider.kubelet.k8s.io/v1';
let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-plugins-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Creates a host with a plugin that runs this script. */
async function withPlugin(script: string, over: object = {}) {
  const provider = { name: 'plugin', apiVersion: V1, matchImages: ['r.example'], defaultCacheDuration: '0s', ...over };
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
  await mkdir(join(root, 'bin'));
  await writeFile(join(root, 'bin/plugin'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await writeFile(join(root, 'plugins.json'), JSON.stringify(config));
  const told: string[] = [];
  const registry = new Registry();
  const ending = new AbortController();
  const credentialProviders = { config: join(root, 'plugins.json'), binDir: join(root, 'bin') };
  const find = await createCredentialFinder(
    { rootDirectory: root, credentialProviders },
    {
      logWarning: (message) => void told.push(message),
      signal: ending.signal,
      observer: registerProviderMetrics(registry),
    },
  );
  const asked = { repository: 'r.example/app', pod: aPod(), signal: new AbortController().signal };
  return { told, ending, registry, users: async () => (await find(asked)).map(({ username }) => username) };
}

const answer = (username: string) =>
  `echo '{"kind": "CredentialProviderResponse", "apiVersion": "${V1}", "cacheKeyType": "Image", "auth": {"r.example": {"username": "'${username}'", "password": "hunter2"}}}'`;

test('the credentials of a plugin come after those in the files of the node', async () => {
  const { users, told, registry } = await withPlugin(answer('plugin'));
  await writeFile(
    join(root, 'config.json'),
    JSON.stringify({ auths: { 'r.example': { username: 'file', password: 'x' } } }),
  );
  expect(await users()).toEqual(['file', 'plugin']);
  expect(told).toEqual([]);
  const infos = [...(await samplesOf(registry))].filter(([name]) => name.includes('config_info'));
  expect(infos).toEqual([
    [expect.stringMatching(/^kubelet_credential_provider_config_info{hash="sha256:[0-9a-f]{64}"}$/), 1],
  ]);
});

test('a plugin receives its request, its own arguments and environment, and nothing of the agent', async () => {
  process.env.SECRET_OF_THE_AGENT = 'hunter3';
  const env = [{ name: 'OWN', value: 'own' }];
  const { users } = await withPlugin(`cat > ${root}/request; env > ${root}/env; ${answer('"$1$OWN"')}`, {
    args: ['arg'],
    env,
  });
  expect(await users()).toEqual(['argown']);
  delete process.env.SECRET_OF_THE_AGENT;
  const request = { kind: 'CredentialProviderRequest', apiVersion: V1, image: 'r.example/app' };
  expect(JSON.parse(await readFile(join(root, 'request'), 'utf8'))).toEqual(request);
  expect(await readFile(join(root, 'env'), 'utf8')).not.toContain('hunter3');
});

test.each([
  ['fails', 'echo no network >&2; exit 1', 'no network'],
  ['writes without end', 'yes hunter2', 'wrote more than 1048576 bytes'],
  ['says nothing', 'exit 0', 'its answer is no CredentialProviderResponse'],
])('a plugin that %s is reported, and provides no credentials', async (_, script, why) => {
  const { users, told } = await withPlugin(script);
  expect(await users()).toEqual([]);
  expect(told).toEqual([`credential provider plugin returned no credentials: ${why}`]);
});

test('a plugin is terminated with the agent', async () => {
  const { users, ending } = await withPlugin(`touch ${root}/begun; exec sleep 1000`);
  const asked = users();
  await eventually('it has begun', async () => (await readFile(join(root, 'begun'), 'utf8')) === '');
  ending.abort();
  expect(await asked).toEqual([]);
});

test('C42: each run of a plugin is timed and counted, and so is each failure', async () => {
  const { users, registry } = await withPlugin(`if [ -e ${root}/broken ]; then exit 1; fi; ${answer('plugin')}`);
  await users();
  await writeFile(join(root, 'broken'), '');
  await users();
  const samples = await samplesOf(registry);
  expect(samples.get('kubelet_credential_provider_plugin_duration_count{plugin_name="plugin"}')).toBe(2);
  expect(samples.get('kubelet_credential_provider_plugin_errors_total{plugin_name="plugin"}')).toBe(1);
});
