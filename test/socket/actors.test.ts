/** Single actors over the socket. */
import { expect, test } from '@jest/globals';
import { readActors } from '../../cli/commands/get/readActors.ts';
import { agentClient } from '../../socket/client.ts';
import { NOW, volumeView } from '../kubernetes/views.ts';
import { pod, servedToEachTest } from './served.ts';

const served = servedToEachTest();

const client = () => agentClient(served.socket.path);

test('GET /actors returns the actors of the node and of its pods', async () => {
  const { at, node, pods, simulated } = readActors(await client().json('/actors'));
  expect({ at, simulated, node: node.name }).toEqual({ at: NOW, simulated: false, node: 'host' });
  expect(pods.map(({ pod, tree }) => [pod.metadata.name, tree.children[0]?.state])).toEqual([
    ['web-host', 'running'],
    ['db-host', 'running'],
  ]);
});

test('a response with a malformed actor is rejected', async () => {
  const actors = readActors(await client().json('/actors'));
  expect(() => readActors({ ...actors, node: { ...actors.node, tags: 'steady' } })).toThrow('tags');
});

test('a container or volume of a pod can be explained', async () => {
  served.agent.show(pod('data-host', { volumes: [volumeView('data')] }));
  expect(await client().json('/explain/pods/web/containers/web')).toMatchObject({
    kind: 'container',
    pod: 'web-host',
    status: 'Running',
    answer: 'container web is running and ready, for 60s',
  });
  expect(await client().json('/explain/uids/uid-data-host/volumes/data')).toMatchObject({ kind: 'volume' });
  expect(await client().text('/explain/namespaces/default/pods/data/volumes/data')).toContain('is mounted');
  await expect(client().json('/explain/pods/web/containers/wbe')).rejects.toMatchObject({
    reason: 'NotFound',
    message: 'pod web-host: container "wbe" not found; it has web',
  });
  for (const path of ['containers', 'containers/', 'probes/x', 'containers/a/b']) {
    await expect(client().json(`/explain/pods/web/${path}`)).rejects.toMatchObject({
      message: expect.stringMatching(/^nothing found/),
    });
  }
});
