/** Stories of API objects that change while a pod uses them, and of tokens that expire. */
import type { ApiObject } from '../../cluster/apiObject.ts';
import { type ManifestSpec, manifest } from '../manifests.ts';
import type { TimedAction } from '../story.ts';
import {
  at,
  BROKEN,
  faultAt,
  killAgent,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  SECOND,
} from './pointedStory.ts';

const MINUTES = 60;

const config = (a: string, more: Partial<ApiObject> = {}): ApiObject => ({
  of: 'ConfigMap',
  name: 'config',
  data: { a, b: 'same' },
  ...more,
});
const secret = (a: string): ApiObject => ({ of: 'Secret', name: 'secret', data: { a } });
const anchors = (a: string): ApiObject => ({ of: 'ClusterTrustBundle', name: 'anchors', data: { a } });

const put = (seconds: number, object: ApiObject) => at(seconds, { kind: 'putObject', object });
const recreate = (seconds: number, object: ApiObject) => at(seconds, { kind: 'remakeObject', object });
const deleteObject = (seconds: number, { of, name }: ApiObject) => at(seconds, { kind: 'deleteObject', of, name });
const create = (seconds: number, name: string, spec: Partial<ManifestSpec>) =>
  at(seconds, { kind: 'createPod', pod: manifest(name, spec) });
const label = (seconds: number, version: string) =>
  at(seconds, { kind: 'labelPod', pod: 'default/web', labels: { version } });

/** Changes the image of the container `main`. */
const image = (seconds: number) =>
  at(seconds, {
    kind: 'setImage',
    pod: 'default/web',
    container: 'main',
    image: `registry.local/pulled:${seconds < 15 ? 1 : 2}`,
  });

const volumeMounts = [{ name: 'shown', mountPath: '/shown' }];
/** Returns the spec of a pod that mounts this volume. */
const showing = (volume: object, more: Partial<ManifestSpec> = {}): Partial<ManifestSpec> => ({
  containers: [mainContainer({ volumeMounts })],
  volumes: [{ name: 'shown', ...volume }],
  ...more,
});
const SHOWS_CONFIG = showing({ configMap: { name: 'config' } });
const TOKEN = { serviceAccountToken: { path: 'token', expirationSeconds: 600 } };
const LABELS = { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } };
const EVERYTHING = [
  TOKEN,
  LABELS,
  { configMap: { name: 'config', items: [{ key: 'a', path: 'of/config' }] } },
  { secret: { name: 'secret', items: [{ key: 'a', path: 'of/secret' }] } },
  { clusterTrustBundle: { name: 'anchors', path: 'anchors.pem' } },
];
const SHOWS_ALL = showing({ projected: { sources: EVERYTHING } });
const TAKES = (key: string) => ({
  containers: [mainContainer({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'config', key } } }] })],
});

/** Returns the story for a node of a cluster that detects changes of objects with this strategy. */
const inCluster = (story: PointedStory, objects: PointedStory['objects'] = 'Watch'): PointedStory => ({
  ...story,
  inCluster: true,
  objects,
});

const often = (count: number, from: number, everyMs: number): TimedAction[] =>
  Array.from({ length: count }, (_, index) => put(from + (index * everyMs) / SECOND, config(`${index}`)));

/** Stories by title. */
export const objects: Readonly<Record<string, PointedStory>> = {
  'a pod shows everything that a cluster has for it, and all of it changes': inCluster(
    pointedStory(
      [
        put(0, config('1')),
        put(0, secret('1')),
        put(0, anchors('1')),
        create(1, 'web', SHOWS_ALL),
        put(20, config('2')),
        put(30, secret('2')),
        put(40, anchors('2')),
        label(50, '2'),
        recreate(60, config('3')),
        deleteObject(70, secret('2')),
        put(90, secret('3')),
        put(100, anchors('3')),
      ],
      [],
      120 * SECOND,
    ),
  ),
  'a ConfigMap changes all the time': inCluster(
    pointedStory([
      put(0, config('first')),
      create(1, 'web', SHOWS_CONFIG),
      ...often(60, 10, 150),
      label(12, '2'),
      image(14),
      image(17.3),
    ]),
  ),
  'a ConfigMap and the labels of its pod change at once': inCluster(
    pointedStory([
      put(0, config('1')),
      put(0, secret('1')),
      put(0, anchors('1')),
      create(1, 'web', SHOWS_ALL),
      put(20, config('2')),
      label(20.3, '2'),
      put(40, config('3')),
      put(40.3, config('4')),
      label(40.5, '3'),
    ]),
  ),
  'trust anchors change': inCluster(
    pointedStory([
      put(0, anchors('1')),
      create(1, 'web', showing({ projected: { sources: [{ clusterTrustBundle: { name: 'anchors', path: 'ca' } }] } })),
      put(20, anchors('2')),
      deleteObject(30, anchors('')),
      put(40, anchors('3')),
    ]),
  ),
  'keys go from a ConfigMap, and others come': inCluster(
    pointedStory([
      put(0, config('1')),
      create(1, 'web', SHOWS_CONFIG),
      put(20, config('', { data: { c: 'new' } })),
      put(30, config('', { data: {} })),
    ]),
  ),
  'a ConfigMap changes while its files are written': inCluster(
    pointedStory(
      [
        put(0, config('1')),
        create(1, 'web', SHOWS_CONFIG),
        put(2, config('2')),
        put(30, config('3')),
        put(32, config('4')),
      ],
      [
        faultAt('disk', 'mkdtemp', late(3), { about: '~configmap' }),
        faultAt('disk', 'mkdtemp', late(5), { about: '~configmap', skip: 1 }),
      ],
    ),
  ),
  'a ConfigMap changes while its files cannot be written for the first time': inCluster(
    pointedStory(
      [put(0, config('1')), create(1, 'web', SHOWS_CONFIG), put(2, config('2'))],
      [
        faultAt('disk', 'mkdtemp', late(3), { about: '~configmap' }),
        faultAt('disk', 'writeFile', BROKEN, { about: '~configmap' }),
      ],
    ),
  ),
  'files cannot be written, and a ConfigMap changes meanwhile': inCluster(
    pointedStory(
      [
        put(0, config('1')),
        create(1, 'web', SHOWS_CONFIG),
        put(20, config('2')),
        put(22, config('3')),
        put(25, config('4')),
      ],
      [faultAt('disk', 'mkdtemp', BROKEN, { about: '~configmap', skip: 1, times: 4 })],
    ),
  ),
  'a pod waits for a ConfigMap, and then for a key of it': inCluster(
    pointedStory([
      create(0, 'web', TAKES('c')),
      create(0, 'shows', SHOWS_CONFIG),
      put(20, config('1')),
      put(40, config('', { data: { a: '1', c: 'at last' } })),
    ]),
  ),
  'a ConfigMap for good is made anew with another content': inCluster(
    pointedStory([
      put(0, config('1', { immutable: true })),
      create(1, 'web', SHOWS_CONFIG),
      recreate(20, config('2')),
      create(30, 'other', { ...SHOWS_CONFIG, ...TAKES('a') }),
    ]),
  ),
  'tokens are renewed for an hour': inCluster(
    pointedStory(
      [
        put(0, config('1')),
        put(0, secret('1')),
        put(0, anchors('1')),
        create(1, 'web', SHOWS_ALL),
        create(1, 'other', showing({ projected: { sources: [TOKEN] } })),
        label(100, '2'),
        killAgent(1_000),
      ],
      [],
      MINUTES * 60 * SECOND,
    ),
  ),
  'no token is to be had for a while, and the clock goes ahead': inCluster(
    pointedStory(
      [
        create(1, 'web', showing({ projected: { sources: [TOKEN] } })),
        at(400, { kind: 'apiPart', part: 'token', how: 'failing', forMs: 150 * SECOND }),
        at(900, { kind: 'apiPart', part: 'token', how: 'hanging', forMs: 60 * SECOND }),
        at(1_100, { kind: 'jump', ms: 30 * 60 * SECOND }),
        at(1_400, { kind: 'jump', ms: -60 * 60 * SECOND }),
        at(1_700, { kind: 'apiPart', part: 'token', how: 'lost', forMs: 300 * SECOND }),
      ],
      [],
      MINUTES * 60 * SECOND,
    ),
  ),
  'a pod is taken away by force, and runs on for longer than its token holds': inCluster(
    pointedStory(
      [
        create(1, 'web', {
          ...showing({ projected: { sources: [TOKEN] } }),
          terminationGracePeriodSeconds: 1_200,
          containers: [mainContainer({ volumeMounts, command: ['sh', '-c', 'trap "" TERM; sleep 1d'] })],
        }),
        at(100, { kind: 'deletePod', pod: 'default/web', graceSeconds: 0 }),
      ],
      [],
      30 * 60 * SECOND,
    ),
  ),
  'a Secret is gone while a pod runs that shows it, and another agent begins': inCluster(
    pointedStory(
      [
        put(0, secret('1')),
        create(1, 'web', showing({ secret: { secretName: 'secret' } })),
        deleteObject(20, secret('')),
        killAgent(30, 5),
      ],
      [],
      120 * SECOND,
    ),
  ),
  'a Secret is gone, and what ran of the pod that shows it ends before another agent begins': inCluster(
    pointedStory(
      [
        put(0, secret('1')),
        create(1, 'web', showing({ secret: { secretName: 'secret' } })),
        deleteObject(20, secret('')),
        killAgent(30, 20),
        at(40, { kind: 'exit', which: 0, exitCode: 1 }),
      ],
      [],
      120 * SECOND,
    ),
  ),
  'objects are looked at now and then': inCluster(
    pointedStory(
      [
        put(0, config('1')),
        create(1, 'web', SHOWS_CONFIG),
        put(30, config('2')),
        deleteObject(200, config('')),
        put(300, config('3')),
      ],
      [],
      480 * SECOND,
    ),
    'Cache',
  ),
};
