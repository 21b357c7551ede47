/** An agent that gets its registry credentials from a plugin, which its command-line flags configure. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { BUSYBOX_IMAGE, buildHostImages } from '../../cri/managed/images/images.ts';
import { noAbort } from './support/containerd.ts';
import { forAllTests, nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';
import { guardedRegistry } from './support/registry.ts';

const password = 'hunter2-of-the-plugin';
const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
const registry = await forAllTests(async () => {
  const busybox = (await buildHostImages(noAbort)).find(({ name }) => name === BUSYBOX_IMAGE);
  if (busybox === undefined) throw new Error(`${BUSYBOX_IMAGE} is not among the images of the host`);
  return guardedRegistry(busybox, { username: 'plugin', password });
});
const { directory } = await forAllTests(async () => {
  const made = await mkdtemp(join(tmpdir(), 'statelet-plugin-'));
  return { directory: made, end: () => rm(made, { recursive: true, force: true }) };
});
const provider = { name: 'plugin', apiVersion, matchImages: [registry.host], defaultCacheDuration: '1m' };
const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
await writeFile(join(directory, 'plugins.yaml'), JSON.stringify(config));
const auth = { [registry.host]: { username: 'plugin', password } };
const answer = JSON.stringify({ kind: 'CredentialProviderResponse', apiVersion, cacheKeyType: 'Image', auth });
const script = `#!/bin/sh\ncat >> ${directory}/requests\necho '${answer}'\n`;
await writeFile(join(directory, 'plugin'), script, { mode: 0o755 });
const node = await nodeForAllTests(runNode, {
  args: [
    '--image-credential-provider-config',
    join(directory, 'plugins.yaml'),
    '--image-credential-provider-bin-dir',
    directory,
  ],
});

test('C16: an image is pulled with the credentials of a plugin, which are never disclosed', async () => {
  const image = `${registry.host}/team/app:1`;
  await node.write('app', podManifest('app', [shell('main', steadily(), { image, imagePullPolicy: 'Always' })]));
  await node.running('app');
  expect(registry.requestUsers.at(-1)).toBe('plugin');
  const [request = ''] = (await readFile(join(directory, 'requests'), 'utf8')).split('\n');
  expect(JSON.parse(request)).toEqual({
    kind: 'CredentialProviderRequest',
    apiVersion,
    image: `${registry.host}/team/app`,
  });
  const resources = ['/explain/pods/app-node', '/api/v1/events', '/api/v1/pods', '/node'];
  const responses = await Promise.all(resources.map((resource) => node.ask(resource).catch(String)));
  expect(JSON.stringify(responses) + node.agent.out() + node.agent.err()).not.toContain(password);
});
