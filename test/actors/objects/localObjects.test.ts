import { describe, expect, test } from '@jest/globals';
import type { LocalObject } from '../../../actors/objects/cache/persistedSourceObjects.ts';
import { LocalObjects } from '../../../actors/objects/localObjects.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ConfigKind } from '../../../kubernetes/objects/configObject.ts';
import { objectOfManifest } from '../../../kubernetes/objects/objectManifest.ts';
import type { NodeFact } from '../../../machines/shared/events/events.ts';
import { podWith } from '../../fakes/pods.ts';
import { reads, shows } from './support/heldCluster.ts';

const { signal } = new AbortController();

function objectNamed(name: string, value: string, kind: ConfigKind = 'ConfigMap', namespace = 'default'): LocalObject {
  const data = [['k', value]] as const;
  return { object: objectOfManifest({ kind, namespace, name, isImmutable: false, type: '', data }), file: '/pods/a' };
}

function podOf(source: string, uid: string, spec: Partial<Pod['spec']>, namespace = 'default'): Pod {
  const pod = podWith('p', spec);
  const annotations = { 'kubernetes.io/config.source': source };
  return { ...pod, metadata: { ...pod.metadata, uid, namespace, annotations } };
}

function local(sources: readonly string[] = ['file', 'http']) {
  const clock = new SimulatedClock();
  const objects = new LocalObjects(new Map(sources.map((source) => [source, `/of/${source}`])), clock);
  const facts: NodeFact[] = [];
  const ending = new AbortController();
  objects.start((fact) => facts.push(fact), ending.signal);
  const notifications = () => facts.flatMap((fact) => (fact.type === 'cluster.objectsChanged' ? [fact.uids] : []));
  const read = async (pod: Pod, kind: ConfigKind = 'ConfigMap', name = 'c') =>
    String((await objects.get(pod, kind, name, { signal })).data.get('k'));
  return { clock, objects, notifications, read, end: () => ending.abort() };
}

describe('a pod', () => {
  test('reads objects only from its own source and namespace', async () => {
    const { objects, read } = local();
    objects.put('file', [objectNamed('c', 'of a file'), objectNamed('c', 'elsewhere', 'ConfigMap', 'other')]);
    objects.put('http', [objectNamed('c', 'of a URL'), objectNamed('s', 'secret', 'Secret')]);
    expect(await read(podOf('file', 'a', {}))).toBe('of a file');
    expect(await read(podOf('http', 'b', {}))).toBe('of a URL');
    expect(await read(podOf('file', 'c', {}, 'other'))).toBe('elsewhere');
    expect(await read(podOf('http', 'd', {}), 'Secret', 's')).toBe('secret');
    const none = {
      name: 'ObjectNotFound',
      message: 'secret "s" not found in /of/file; the pod starts as soon as the Secret exists',
    };
    await expect(read(podOf('file', 'e', {}), 'Secret', 's')).rejects.toMatchObject(none);
    await expect(read(podOf('http', 'f', {}, 'other'), 'Secret', 's')).rejects.toMatchObject({
      ...none,
      message: none.message.replace('/of/file', '/of/http'),
    });
    await expect(read(podOf('program', 'g', {}))).rejects.toMatchObject({ name: 'ObjectNotFound' });
  });

  test('reads objects once their source has been read, and waits until then', async () => {
    const { objects, notifications, read } = local();
    const pod = podOf('file', 'a', shows('c'));
    objects.follow(pod);
    objects.put('http', [objectNamed('c', 'of a URL')]);
    const early = 'the manifests that configmap "c" may be in have not been read yet';
    await expect(read(pod)).rejects.toMatchObject({ name: 'Error', message: early });
    objects.put('file', []);
    expect(notifications()).toEqual([['a']]);
    await expect(read(pod)).rejects.toThrow('configmap "c" not found');
    await expect(read(podOf('file', 'b', {}), 'Secret')).rejects.toThrow('secret "c" not found');
  });

  test('finds no object if its source does not exist', async () => {
    await expect(local([]).read(podOf('file', 'a', {}))).rejects.toMatchObject({ name: 'ObjectNotFound' });
  });
});

describe('a change of a local object', () => {
  test('notifies the pods of its source that reference it, at most once a second', async () => {
    const { clock, objects, notifications } = local();
    objects.put('file', [objectNamed('c', '1'), objectNamed('d', '1')]);
    objects.follow(podOf('file', 'shows', shows('c')));
    objects.follow(podOf('file', 'reads', reads('c')));
    objects.follow(podOf('file', 'other', shows('d')));
    objects.follow(podOf('http', 'url', shows('c')));
    objects.put('file', [objectNamed('c', '2'), objectNamed('d', '1')]);
    expect(notifications()).toEqual([['shows', 'reads']]);
    objects.put('file', [objectNamed('c', '2'), objectNamed('d', '1')]);
    objects.put('file', [objectNamed('c', '3'), objectNamed('d', '1')]);
    objects.put('file', [objectNamed('c', '4'), objectNamed('d', '1')]);
    expect(notifications()).toHaveLength(1);
    await clock.advance(1_000);
    expect(notifications()).toEqual([
      ['shows', 'reads'],
      ['shows', 'reads'],
    ]);
  });

  test('is reported on removal and on recreation, even to pods that have only read it', async () => {
    const { clock, objects, notifications, read } = local();
    const pod = podOf('file', 'a', {});
    objects.put('file', [objectNamed('c', '1')]);
    objects.follow(pod);
    await read(pod);
    objects.put('file', []);
    await clock.advance(1_000);
    objects.put('file', [objectNamed('c', '1')]);
    expect(notifications()).toEqual([['a'], ['a']]);
  });

  test('notifies no removed pod, and nothing after the agent has stopped', () => {
    const { objects, notifications, end } = local();
    objects.put('file', [objectNamed('c', '1')]);
    objects.follow(podOf('file', 'a', shows('c')));
    objects.follow(podOf('file', 'b', shows('c')));
    objects.release('a');
    objects.put('file', [objectNamed('c', '2')]);
    expect(notifications()).toEqual([['b']]);
    end();
    objects.put('file', []);
    expect(notifications()).toHaveLength(1);
  });

  test('notifies only pods whose current version references it', () => {
    const { objects, notifications } = local();
    objects.put('file', [objectNamed('c', '1'), objectNamed('d', '1')]);
    objects.follow(podOf('file', 'a', shows('c')));
    objects.follow(podOf('file', 'a', shows('d')));
    objects.put('file', [objectNamed('c', '2'), objectNamed('d', '1')]);
    expect(notifications()).toEqual([]);
  });
});
