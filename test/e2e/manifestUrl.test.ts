/** Pods from a URL on a real containerd: they are updated, retained while the URL fails, and removed. */
import { expect, test } from '@jest/globals';
import { forAllTests, nodeForAllTests } from './support/forAllTests.ts';
import { loopbackServer } from './support/loopbackServer.ts';
import { type Manifest, podManifest, shell, steadily } from './support/manifests.ts';
import { identitiesOf, runNode } from './support/node.ts';

/** The response of the URL: a list of pods, or an error. */
let answer: readonly Manifest[] | 'refusal' = [];
const server = await forAllTests(() =>
  loopbackServer(({ headers }, response) => {
    const isKnown = headers.authorization === 'Bearer of-pods';
    response.writeHead(isKnown ? (answer === 'refusal' ? 500 : 200) : 401);
    response.end(JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: answer }));
  }),
);
const url = `http://127.0.0.1:${server.port}/pods`;
const node = await nodeForAllTests(() => runNode('httpCheckFrequency: 1s'), {
  args: ['--manifest-url', url, '--manifest-url-header', 'Authorization:Bearer of-pods'],
});

const end = 'that is all';
const printingPod = (name: string, words: string, uid?: string) =>
  podManifest(name, [shell('main', steadily(`echo ${words}; echo ${end}`))], uid === undefined ? {} : { uid });
const outputOf = async (name: string) => node.log(await node.running(name), 'main', end);

test('pods from a URL run, follow changes of the response and survive its failures, and do not affect pods from files', async () => {
  await node.write('filed', printingPod('filed', 'from a file'));
  answer = [printingPod('kept', 'here'), printingPod('edited', 'one')];
  expect(await outputOf('edited')).toEqual(['one']);
  const [kept, filed, first] = [await node.running('kept'), await node.running('filed'), await node.running('edited')];
  expect(kept.metadata.annotations).toMatchObject({ 'kubernetes.io/config.source': 'http' });

  answer = [printingPod('kept', 'here'), printingPod('edited', 'two'), printingPod('added', 'three')];
  expect(await outputOf('added')).toEqual(['three']);
  const edited = await node.until('is another', 'edited', ({ metadata, status }) => {
    return metadata.uid !== first.metadata.uid && status?.phase === 'Running' && metadata;
  });
  expect(edited.name).toBe('edited-node');
  expect(await outputOf('edited')).toEqual(['two']);

  answer = 'refusal';
  await node.agent.says(`${url}: `);
  expect(identitiesOf(await node.running('filed'))).toEqual(identitiesOf(filed));
  await node.remove('filed');
  await node.gone('filed');
  const names = (await node.pods()).map(({ metadata }) => metadata.name);
  expect(names).toEqual(['added-node', 'edited-node', 'kept-node']);

  answer = [printingPod('kept', 'here')];
  await Promise.all([node.gone('edited'), node.gone('added')]);
  expect(identitiesOf(await node.running('kept'))).toEqual(identitiesOf(kept));
});
