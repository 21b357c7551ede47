/** The pull Secrets of pods in a cluster, from the API server to the runtime. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { RecordedEvent } from '../../../kubernetes/events/recordedEvent.ts';
import { boundPod, joinedNode, PODS } from '../../fakes/joinedNode.ts';

const SECRETS = '/api/v1/namespaces/default/secrets';
const IMAGE = 'registry.local/app:1';
const PASSWORD = 'hunter2-of-the-registry';

const secret = (
  name: string,
  text = JSON.stringify({ auths: { 'registry.local': { username: 'me', password: PASSWORD } } }),
) => ({
  metadata: { name },
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': Buffer.from(text).toString('base64') },
});

const puller = (name: string, ...secrets: readonly string[]) =>
  boundPod(name, {
    containers: [{ name: 'main', image: IMAGE, imagePullPolicy: 'IfNotPresent' }],
    imagePullSecrets: secrets.map((each) => ({ name: each })),
  });

async function world() {
  const events: RecordedEvent[] = [];
  const runtime = { images: { registry: { [IMAGE]: {} } } };
  const joined = await joinedNode({ runtime, parts: { events: (event) => void events.push(event) } });
  return { ...joined, events };
}

test('C16: an image is pulled with the credentials of the Secret, which are not disclosed and are recorded only as a hash', async () => {
  const { node, ask } = await world();
  await ask('POST', SECRETS, secret('pull'));
  await ask('POST', PODS, puller('web', 'pull'));
  await node.advance('5s');
  expect(node.pod('web').phase).toBe('Running');
  expect(node.calls('pullImage')[0]?.request).toMatchObject({ auth: { username: 'me', password: PASSWORD } });
  const directory = node.path('root/image_manager/pulled');
  const [record = ''] = await readdir(directory);
  const text = await readFile(join(directory, record), 'utf8');
  expect(JSON.parse(text).credentialMapping['registry.local/app'].kubernetesSecrets).toMatchObject([{ name: 'pull' }]);
  const outputs = [text, JSON.stringify(node.agent.explain('web')), JSON.stringify(await ask('GET', `${PODS}/web`))];
  expect(outputs.join()).not.toContain(PASSWORD);
});

test('C16: a missing pull Secret is reported, and the next attempt uses it once it exists', async () => {
  const { node, ask, events } = await world();
  node.runtime.images.publish(IMAGE, { error: { message: 'denied' } });
  await ask('POST', PODS, puller('web', 'later'));
  await node.advance('2s');
  expect(node.calls('pullImage')[0]?.request).toMatchObject({ auth: undefined });
  const [told] = events.filter(({ reason }) => reason === 'FailedToRetrieveImagePullSecret');
  expect(told).toMatchObject({
    message: 'Unable to retrieve some image pull secrets (later); attempting to pull the image may not succeed.',
    involved: expect.not.objectContaining({ fieldPath: expect.anything() }),
  });
  await ask('POST', SECRETS, secret('later'));
  node.runtime.images.publish(IMAGE, {});
  await node.advance('15s');
  expect(node.pod('web').phase).toBe('Running');
  expect(node.calls('pullImage').at(-1)?.request).toMatchObject({ auth: { username: 'me' } });
});

test('C16: an invalid pull Secret leaves its pod waiting, and the message does not reveal its content', async () => {
  const { node, ask } = await world();
  await ask('POST', SECRETS, secret('broken', `{"auths": {"registry.local": {"auth": "${PASSWORD}"}}}`));
  await ask('POST', PODS, puller('web', 'broken'));
  await node.advance('2s');
  expect(node.container('web').state?.waiting).toEqual({
    reason: 'ErrImagePull',
    message: 'secret "broken": .dockerconfigjson is not the configuration of docker that its type says',
  });
  expect(node.calls('pullImage')).toEqual([]);
});

test('C17: a pod without the pull Secret pulls the image again, because its right to the image is unproven', async () => {
  const { node, ask } = await world();
  await ask('POST', SECRETS, secret('pull'));
  await ask('POST', PODS, puller('web', 'pull'));
  await node.advance('5s');
  await ask('POST', PODS, puller('same', 'pull'));
  await node.advance('5s');
  expect(node.pod('same').phase).toBe('Running');
  expect(node.calls('pullImage')).toHaveLength(1);
  node.runtime.images.publish(IMAGE, { error: { message: 'denied' } });
  await ask('POST', PODS, puller('other'));
  await node.advance('5s');
  expect(node.calls('pullImage')).toHaveLength(2);
  expect(node.container('other').state?.waiting).toMatchObject({ message: expect.stringContaining('denied') });
});
