import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { BUSYBOX_IMAGE, buildHostImages } from '../../cri/managed/images/images.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { noAbort } from './support/containerd.ts';
import { forAllTests, nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';
import { guardedRegistry } from './support/registry.ts';

const password = 'hunter2-of-the-registry';
const registry = await forAllTests(async () => {
  const busybox = (await buildHostImages(noAbort)).find(({ name }) => name === BUSYBOX_IMAGE);
  if (busybox === undefined) throw new Error(`${BUSYBOX_IMAGE} is not among the images of the host`);
  return guardedRegistry(busybox, { username: 'puller', password });
});
const node = await nodeForAllTests(runNode);

const pulled = (name: string, image: string) =>
  podManifest(name, [shell('main', steadily(), { image, imagePullPolicy: 'Always' })]);

const waitingOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting;

/** Returns all output of the agent, and everything that it serves about the pod. */
async function disclosedText(name: string): Promise<string> {
  const resources = [`/explain/pods/${name}-node`, '/api/v1/events', '/api/v1/pods', '/node'];
  const responses = await Promise.all(resources.map((resource) => node.ask(resource).catch(String)));
  return JSON.stringify(responses) + node.agent.out() + node.agent.err();
}

test('C16: an image from a registry with a password is pulled with the node credentials, which are never disclosed', async () => {
  const config = join(node.rootDir, 'config.json');
  await writeFile(config, `{"auths": {"${registry.host}": {"password": "${password}`);
  await node.write('app', pulled('app', `${registry.host}/team/app:1`));
  const refused = await node.until('is not pulled', 'app', (pod) => /Pull/.test(waitingOf(pod)?.reason ?? '') && pod);
  expect(waitingOf(refused)?.message).toContain(`${registry.host}/team/app:1`);
  expect(new Set(registry.requestUsers)).toEqual(new Set(['']));
  expect((await disclosedText('app')).split(`${config}: registry credentials not read`)).toHaveLength(2);

  // Credentials for a longer path are tried first. The others follow if the registry rejects them.
  const wrong = { username: 'somebody', password: 'hunter3-of-somebody' };
  const auth = Buffer.from(`puller:${password}`).toString('base64');
  const auths = { [`${registry.host}/team`]: wrong, '127.0.0.*:1': wrong, [`http://${registry.host}/v1/`]: { auth } };
  await writeFile(config, JSON.stringify({ auths }));
  await node.running('app');
  const users = registry.requestUsers.filter((user) => user !== '');
  expect([users[0], users.at(-1)]).toEqual(['somebody', 'puller']);

  const disclosed = await disclosedText('app');
  for (const secret of [password, wrong.password, auth]) expect(disclosed).not.toContain(secret);
});

test('an image is not pulled with credentials that the registry rejects, and those for another port are not tried', async () => {
  const config = join(node.rootDir, 'config.json');
  const before = await readFile(config, 'utf8');
  const auths = {
    [registry.host]: { username: 'one', password: 'no' },
    '127.0.0.1': { username: 'two', password: 'no' },
  };
  await writeFile(config, JSON.stringify({ auths }));
  await node.write('other', pulled('other', `${registry.host}/other:1`));
  const message = await node.until('is refused', 'other', (pod) => waitingOf(pod)?.message);
  expect(message).toMatch(/authorization failed|401|unauthorized/i);
  expect(registry.requestUsers).toContain('one');
  expect(registry.requestUsers).not.toContain('two');
  await writeFile(config, before);
  await node.running('other');
});
