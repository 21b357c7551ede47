import { expect, test } from '@jest/globals';
import { createContainerObjects } from '../../../../actors/services/containers/containerObjects.ts';
import { FakeObjects } from '../../../fakes/objects.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';

const { signal } = new AbortController();
const base64 = (text: string) => Buffer.from(text).toString('base64');
const pod = aPod({
  containers: [
    aContainer({
      envFrom: [{ configMapRef: { name: 'settings' } }],
      env: [
        { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'key', key: 'password' } } },
        { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
    }),
    aContainer({ name: 'plain' }),
  ],
});
const main = { pod, container: 'main' };

function world() {
  const objects = new FakeObjects();
  const learned: string[] = [];
  const service = createContainerObjects({ objects, learnValues: (_pod, values) => void learned.push(...values) });
  const fill = () => {
    objects.put('ConfigMap', 'settings', { data: { color: 'blue' } });
    objects.put('Secret', 'key', { data: { password: base64('hunter2!') } });
  };
  return { objects, learned, fill, service, read: () => service.readObjects(main, { signal }) };
}

test('C37: objects for a container are read and redacted, and cached for the creation of that container only', async () => {
  const { fill, service, learned, read } = world();
  fill();
  await expect(read()).resolves.toBeNull();
  expect([...service.takeObjects(main).keys()]).toEqual(['ConfigMap/settings', 'Secret/key']);
  expect([...service.takeObjects(main).keys()]).toEqual([]);
  expect(learned).toEqual(['blue', 'hunter2!']);
});

test('C37: the first missing object in the order of a kubelet is reported', async () => {
  const { objects, fill, read, service } = world();
  await expect(read()).rejects.toMatchObject({
    reason: 'CreateContainerConfigError',
    message: 'configmap "settings" not found',
  });
  fill();
  objects.put('Secret', 'key', { data: {} });
  await expect(read()).rejects.toThrow("couldn't find key password in Secret default/key");
  expect(service.takeObjects(main).size).toBe(0);
});

test('C37: nothing is requested for a container without references, and without a cluster every object is missing', async () => {
  const { objects, service } = world();
  await service.readObjects({ pod, container: 'plain' }, { signal });
  expect(objects.asked).toEqual([]);
  const alone = createContainerObjects({});
  await expect(alone.readObjects(main, { signal })).rejects.toThrow('configmap "settings" not found');
});

test('objects read for a removed pod are forgotten', async () => {
  const { fill, service, read } = world();
  fill();
  await read();
  service.forget(pod.metadata.uid);
  expect(service.takeObjects(main).size).toBe(0);
});

test('an aborted read of objects rejects', async () => {
  const { objects, service } = world();
  objects.trouble.set('ConfigMap/settings', 'aborted');
  const stopping = new AbortController();
  stopping.abort(new Error('stopped'));
  await expect(service.readObjects(main, stopping)).rejects.toThrow('stopped');
});
