import { expect, test } from '@jest/globals';
import { objectsBySource } from '../../../actors/objects/objectsBySource.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ObjectsInUse } from '../../../kubernetes/objects/podObjects.ts';
import { aPod } from '../../kubernetes/fixtures.ts';

const podOf = (source?: string): Pod =>
  aPod({}, source === undefined ? {} : { annotations: { 'kubernetes.io/config.source': source } });
const { signal } = new AbortController();

function recordingObjects() {
  const objectCalls: string[] = [];
  const objects = (where: string): ObjectsInUse => ({
    get: async (_, kind, name) => {
      objectCalls.push(`${where}: get ${kind} ${name}`);
      throw new Error('none');
    },
    follow: () => void objectCalls.push(`${where}: follow`),
    release: (uid) => void objectCalls.push(`${where}: release ${uid}`),
  });
  return { objectCalls, local: objects('local'), cluster: objects('cluster') };
}

test.each([
  ['file', 'local'],
  ['http', 'local'],
  ['api', 'cluster'],
  [undefined, 'cluster'],
])('a pod from the source %s uses the %s objects', async (source, where) => {
  const { objectCalls, local: localObjects, cluster } = recordingObjects();
  const objects = objectsBySource({ localObjects, cluster });
  objects.follow(podOf(source));
  await expect(objects.get(podOf(source), 'Secret', 's', { signal })).rejects.toThrow('none');
  objects.release('uid');
  expect(objectCalls).toEqual([
    `${where}: follow`,
    `${where}: get Secret s`,
    'local: release uid',
    'cluster: release uid',
  ]);
});

test('without a cluster all objects are local', () => {
  const { objectCalls, local: localObjects } = recordingObjects();
  objectsBySource({ localObjects, cluster: undefined }).follow(podOf('api'));
  expect(objectCalls).toEqual(['local: follow']);
});
