import { expect, test } from '@jest/globals';
import { BUSYBOX_IMAGE, buildHostImages } from '../../cri/managed/images/images.ts';
import { noAbort } from './support/containerd.ts';
import { forAllTests, nodeForAllTests } from './support/forAllTests.ts';
import { loopbackServer } from './support/loopbackServer.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';
import { openRegistry } from './support/registry.ts';

/** The server accepts every request and responds to none. */
const hanging = await forAllTests(async () => {
  const requests: string[] = [];
  const { port, end } = await loopbackServer(({ url }) => void requests.push(url ?? ''));
  return { host: `127.0.0.1:${port}`, requests, end };
});
const registry = await forAllTests(async () => {
  const busybox = (await buildHostImages(noAbort)).find(({ name }) => name === BUSYBOX_IMAGE);
  if (busybox === undefined) throw new Error(`${BUSYBOX_IMAGE} is not among the images of the host`);
  return openRegistry(busybox);
});
const node = await nodeForAllTests(() => runNode('slowImagePullAfter: 3s', 'imagePullTimeout: 10m'));

const pulled = (name: string, image: string) =>
  podManifest(name, [shell('main', steadily(), { image, imagePullPolicy: 'Always' })]);

const explained = async (name: string) => JSON.stringify(await node.ask(`/explain/pods/${name}-node`));

test('a registry that never responds delays only its own pulls', async () => {
  await node.write('stuck', pulled('stuck', `${hanging.host}/app:1`));
  await node.until('asks its registry', 'stuck', () => hanging.requests.length > 0);
  await node.write('same', pulled('same', `${hanging.host}/other:1`));
  await node.write('web', pulled('web', `${registry.host}/app:1`));
  await node.running('web');

  const behind = `behind the pull of ${hanging.host}/app:1 for default/stuck-node`;
  expect(await explained('stuck')).toContain(`waiting for the pull of image ${hanging.host}/app:1 until`);
  expect(await explained('same')).toContain(`in the pull queue: place 1 of 1, 1 at a time, ${behind}`);
  expect(hanging.requests.filter((url) => url.includes('other'))).toEqual([]);
});
