import { describe, expect, test } from '@jest/globals';
import { ImageClaims } from '../../../actors/images/imageClaims.ts';
import { ImageCollector } from '../../../actors/images/imageCollector.ts';

import { NodeFailure } from '../../../base/failure.ts';
import * as wire from '../../../cri/generated/runtime.ts';
import {
  defaultImageGarbagePolicy,
  type ImageDisk,
  type ImageGarbagePolicy,
} from '../../../kubernetes/images/imageGarbage.ts';
import { SettableClock } from '../../fakes/settableClock.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';

const options = { signal: new AbortController().signal };
const MINUTE = 60_000;
const GIB = 2 ** 30;

interface FakeContainer {
  readonly id?: string;
  readonly imageRef: string;
  readonly mounts?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Returns a runtime with images and containers, and the collector of its images. */
function host({ policy, sandboxImage }: { policy?: Partial<ImageGarbagePolicy>; sandboxImage?: string } = {}) {
  const clock = new SettableClock();
  const state = {
    images: [] as wire.Image[],
    containers: [] as readonly FakeContainer[],
    disk: { capacityBytes: 1000, availableBytes: 600 } as ImageDisk | undefined,
    failing: new Set<string>(),
    statusCalls: 0,
    onRemove: async () => {},
  };
  const forgotten: string[] = [];
  const counted: string[] = [];
  const claims = new ImageClaims();
  const collector = new ImageCollector({
    clock,
    claims,
    policy: { ...defaultImageGarbagePolicy, minAgeMs: 0, ...policy },
    proofs: { forget: async (id) => void forgotten.push(id) },
    readDisk: async (path) => (path === '/images' ? state.disk : undefined),
    onServiceAction: (action) => counted.push(action.action === 'imageCollected' ? action.reason : action.action),
    cri: {
      listImages: async () => {
        if (state.failing.has('list')) throw new NodeFailure('RuntimeUnavailable', 'the runtime is away');
        return { images: [...state.images] };
      },
      listContainers: async () => ({
        containers: state.containers.map(({ id = 'c', imageRef, annotations = {} }) =>
          wire.Container.fromPartial({
            id,
            imageRef,
            annotations,
            labels: {
              'io.kubernetes.pod.name': 'web',
              'io.kubernetes.pod.namespace': 'default',
              'io.kubernetes.container.name': 'main',
            },
          }),
        ),
      }),
      containerStatus: async ({ containerId }) => {
        state.statusCalls += 1;
        const container = state.containers.find(({ id = 'c' }) => id === containerId);
        if (container === undefined) throw new NodeFailure('NotFound', 'it is gone');
        const mounts = (container.mounts ?? []).map((image) => wire.Mount.fromPartial({ image: { image } }));
        return wire.ContainerStatusResponse.fromPartial({ status: { mounts } });
      },
      status: async () =>
        wire.StatusResponse.fromPartial({ info: sandboxImage ? { config: JSON.stringify({ sandboxImage }) } : {} }),
      imageFsInfo: async () =>
        wire.ImageFsInfoResponse.fromPartial({ imageFilesystems: [{ fsId: { mountpoint: '/images' } }] }),
      removeImage: async ({ image }) => {
        await state.onRemove();
        const id = image?.image ?? '';
        if (state.failing.has(id)) throw new NodeFailure('RuntimeError', `${id} is busy`);
        state.images = state.images.filter((each) => each.id !== id);
        return {};
      },
    },
  });
  const add = (id: string, bytes: number, more: Partial<wire.Image> = {}) => {
    state.images.push(wire.Image.fromPartial({ id, repoTags: [`r/${id}:1`], size: BigInt(bytes), ...more }));
  };
  const left = () => state.images.map(({ id }) => id);
  const collect = (...activePods: string[]) => collector.collect(activePods, options);
  const free = async (bytes: number) => {
    const removed = await collector.freeSpace(bytes, [], options);
    return removed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  };
  return { clock, state, claims, collector, add, left, collect, free, forgotten, counted };
}

/** The result of an image detection: the existing images, and the images that containers use. */
interface Detection {
  readonly images?: Readonly<Record<string, number>>;
  readonly used: readonly string[];
}

interface Vector {
  readonly title: string;
  readonly images: Readonly<Record<string, number>>;
  readonly pinned?: readonly string[];
  readonly minAgeMs?: number;
  /** Earlier detections, a minute apart. */
  readonly detections?: readonly Detection[];
  readonly used?: readonly string[];
  readonly bytes: number;
  readonly freed: number;
  readonly left: readonly string[];
}

/** The test vectors of `pkg/kubelet/images/image_gc_manager_test.go`. */
const VECTORS: readonly Vector[] = [
  { title: 'pinned images remain', images: { a: 1024, b: 1024 }, pinned: ['a'], bytes: 4096, freed: 1024, left: ['a'] },
  { title: 'unpinned images go', images: { a: 1024, b: 1024 }, bytes: 2048, freed: 2048, left: [] },
  {
    title: 'nothing goes if all are pinned',
    images: { a: 1024, b: 1024 },
    pinned: ['a', 'b'],
    bytes: 2048,
    freed: 0,
    left: ['a', 'b'],
  },
  { title: 'images in use remain', images: { a: 1024, b: 2048 }, used: ['b'], bytes: 2048, freed: 1024, left: ['b'] },
  {
    title: 'all unused images go',
    images: { a: 1024, b: 2048, c: 2048 },
    used: ['c'],
    bytes: Infinity,
    freed: 3072,
    left: ['c'],
  },
  {
    title: 'no image goes below the minimum age',
    images: { a: 1024, b: 2048, c: 2048 },
    minAgeMs: 3_000,
    used: ['c'],
    bytes: Infinity,
    freed: 0,
    left: ['a', 'b', 'c'],
  },
  {
    title: 'images go once they have the minimum age',
    images: { a: 1024, b: 2048, c: 2048 },
    minAgeMs: 60_000,
    detections: [{ used: ['c'] }],
    used: ['c'],
    bytes: Infinity,
    freed: 3072,
    left: ['c'],
  },
  {
    title: 'the least recently used image goes first',
    images: { a: 1024, b: 2048 },
    detections: [{ used: ['a', 'b'] }, { used: ['b'] }, { used: [] }],
    bytes: 1024,
    freed: 1024,
    left: ['b'],
  },
  {
    title: 'an image that was never used goes before one that was',
    images: { a: 1024, b: 2048 },
    detections: [{ images: { a: 1024 }, used: ['a'] }, { used: ['a'] }, { used: [] }],
    bytes: 1024,
    freed: 2048,
    left: ['a'],
  },
];

describe('freeing space', () => {
  test.each(VECTORS)('C47: $title', async ({ images, pinned = [], minAgeMs = 0, ...vector }) => {
    const { clock, state, add, left, collector, free } = host({ policy: { minAgeMs, highThresholdPercent: 100 } });
    const detect = async (detection: Detection) => {
      state.images = [];
      for (const [id, bytes] of Object.entries(detection.images ?? images)) {
        add(id, bytes, { pinned: pinned.includes(id) });
      }
      state.containers = detection.used.map((imageRef) => ({ id: `of-${imageRef}`, imageRef }));
    };
    for (const detection of vector.detections ?? []) {
      await detect(detection);
      await collector.collect([], options);
      await clock.advance(MINUTE);
    }
    await detect({ used: vector.used ?? [] });
    expect(await free(vector.bytes)).toBe(vector.freed);
    expect(left()).toEqual(vector.left);
  });

  test('C47: removes as many images as possible, and then reports those that it could not remove', async () => {
    const { state, add, left, free, forgotten } = host();
    for (const id of ['a', 'b', 'c']) add(id, 100);
    state.failing.add('a');
    state.failing.add('b');
    await expect(free(Infinity)).rejects.toThrow(
      'wanted to free all unused images, but freed 100 bytes space with errors in image deletion: [a is busy, b is busy]',
    );
    expect([left(), forgotten]).toEqual([['a', 'b'], ['c']]);
  });

  test('C47: two runs at the same time remove no more than one of them wants', async () => {
    const { add, left, free } = host();
    for (const id of ['a', 'b', 'c', 'd']) add(id, 100);
    expect(await Promise.all([free(100), free(100)])).toEqual([100, 100]);
    expect(left()).toEqual(['c', 'd']);
  });
});

describe('the users of an image', () => {
  test.each([
    { use: 'the ID', imageRef: 'sha256:1' },
    { use: 'the digest', imageRef: 'r/a@sha256:2' },
  ])('C47: include a container that references the image by $use', async ({ imageRef }) => {
    const { state, add, left, free } = host();
    add('sha256:1', 100, { repoDigests: ['r/a@sha256:2'] });
    state.containers = [{ imageRef }];
    expect([await free(Infinity), left()]).toEqual([0, ['sha256:1']]);
  });

  test('C47: a container that mounts an image uses it, and each container is read once', async () => {
    const { state, add, left, free } = host();
    add('a', 100);
    add('b', 100);
    state.containers = [{ imageRef: 'a', mounts: ['b'] }];
    expect([await free(Infinity), await free(Infinity), left(), state.statusCalls]).toEqual([0, 0, ['a', 'b'], 1]);
    state.containers = [];
    expect(await free(Infinity)).toBe(200);
  });

  test.each([
    ['two images', 'b,c', ['a', 'b', 'c']],
    ['no image', '', ['a']],
  ])('C47: the annotation of a container that mounts %s saves the call for its status', async (_, images, retained) => {
    const { state, add, left, free } = host();
    for (const id of ['a', 'b', 'c']) add(id, 100);
    state.containers = [{ imageRef: 'a', annotations: { 'statelet.io/mounted-images': images } }];
    await free(Infinity);
    expect([left(), state.statusCalls]).toEqual([retained, 0]);
  });

  test('C47: a starting pod uses the image that it has found, until the pod is over', async () => {
    const { claims, add, collect, left, free } = host();
    add('a', 100);
    const pod = aPod({ containers: [aContainer({ image: 'r/a:1' })] }, { uid: 'web-uid' });
    await claims.claimWhile(pod, 'r/a:1', { find: async () => ({ imageRef: 'a' }), signal: options.signal });
    await collect('web-uid');
    expect(claims.podsWith({ id: 'a', names: [] })).toHaveLength(1);
    expect([await free(Infinity), left()]).toEqual([100, []]);
  });

  test('C47: are listed once each: a container, or the pod whose container does not exist yet', async () => {
    const { claims, state, add, collector } = host();
    add('a', 100);
    for (const name of ['web', 'job']) {
      const pod = aPod({ containers: [aContainer({ image: 'r/a:1' })] }, { name, uid: `${name}-uid` });
      await claims.claimWhile(pod, 'r/a:1', { find: async () => ({ imageRef: 'a' }), signal: options.signal });
    }
    state.containers = [{ imageRef: 'a' }];
    const [use] = await collector.uses(options);
    expect(use).toEqual({
      id: 'a',
      users: ['container main of pod default/web', 'pod default/job'],
      isPinned: false,
    });
  });

  test('C47: include a pod that claims the image during the collection', async () => {
    const { claims, state, add, left, free } = host();
    add('a', 100);
    add('b', 100);
    const pod = aPod({ containers: [aContainer({ image: 'x' })] });
    state.onRemove = async () => {
      await claims.claimWhile(pod, 'x', { find: async () => ({ imageRef: 'b' }), signal: options.signal });
    };
    expect([await free(Infinity), left()]).toEqual([100, ['b']]);
  });

  test('C47: include the sandboxes, even if the runtime does not pin their image', async () => {
    const { add, left, free } = host({ sandboxImage: 'registry.k8s.io/pause:3.6' });
    add('pause', 100, { repoTags: ['registry.k8s.io/pause:3.6'] });
    add('a', 100);
    expect([await free(Infinity), left()]).toEqual([100, ['pause']]);
  });
});

describe('a collection', () => {
  test('C47: removes nothing below the high threshold', async () => {
    const { add, collect, left } = host();
    add('a', 100);
    expect(await collect()).toEqual({
      imageCount: 1,
      unusedCount: 1,
      removed: [],
      disk: { capacityBytes: 1000, availableBytes: 600 },
    });
    expect(left()).toEqual(['a']);
  });

  test('C47: frees space down to the low threshold, and counts what it removes', async () => {
    const { state, add, collect, left, counted, forgotten } = host({
      policy: { highThresholdPercent: 90, lowThresholdPercent: 80 },
    });
    state.disk = { capacityBytes: 1000, availableBytes: 50 };
    for (const id of ['a', 'b', 'c']) add(id, 100);
    const { removed, failure, unusedCount } = await collect();
    expect(removed).toEqual([
      { id: 'a', name: 'r/a:1', sizeBytes: 100, reason: 'space' },
      { id: 'b', name: 'r/b:1', sizeBytes: 100, reason: 'space' },
    ]);
    expect([failure, unusedCount, left(), counted, forgotten]).toEqual([
      undefined,
      1,
      ['c'],
      ['space', 'space'],
      ['a', 'b'],
    ]);
  });

  test('C47: reports that too little could be freed', async () => {
    const { state, add, collect } = host({ policy: { highThresholdPercent: 90, lowThresholdPercent: 80 } });
    state.disk = { capacityBytes: 10 * GIB, availableBytes: GIB / 2 };
    add('a', 500 * 2 ** 20);
    const message =
      "Insufficient free disk space on the node's image filesystem (95% of 10.0 GiB used). " +
      'Failed to free sufficient space by deleting unused images (freed 524288000 bytes). ' +
      'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.';
    expect(await collect()).toMatchObject({
      removed: [{ id: 'a' }],
      events: [{ eventType: 'Warning', reason: 'FreeDiskSpaceFailed', message }],
      failure: { message },
    });
  });

  test('C47: reports a filesystem without a capacity', async () => {
    const { state, collect } = host();
    state.disk = { capacityBytes: 0, availableBytes: 0 };
    const message = 'invalid capacity 0 on image filesystem';
    expect(await collect()).toMatchObject({
      events: [{ eventType: 'Warning', reason: 'InvalidDiskCapacity', message }],
      failure: { message },
    });
  });

  test('C47: fails without an event if the filesystem cannot be read', async () => {
    const { state, collect } = host();
    state.disk = undefined;
    const result = await collect();
    expect(result.failure?.message).toBe('the size of the image filesystem cannot be read: /images');
    expect(result.events).toBeUndefined();
  });

  test('C47: removes images that were unused for too long first, once the agent itself has run for that long', async () => {
    const { clock, state, add, collect, left, counted } = host({ policy: { maxAgeMs: MINUTE, minAgeMs: MINUTE } });
    add('a', 1024);
    add('b', 2048);
    state.containers = [{ imageRef: 'b' }];
    await collect();
    await clock.advance(MINUTE);
    await collect();
    expect(left()).toEqual(['a', 'b']);
    await clock.advance(1);
    add('new', 10);
    await collect();
    expect([left(), counted]).toEqual([['b'], ['age', 'age']]);
  });

  test('C47: without a maximum age no image is too old', async () => {
    const { clock, add, collect, left } = host();
    add('a', 1024);
    await clock.advance(1_000 * MINUTE);
    await collect();
    expect(left()).toEqual(['a']);
  });

  test('C47: names the images that were too old and could not be removed, and frees no space then', async () => {
    const { clock, state, add, collect } = host({ policy: { maxAgeMs: 90_000 } });
    state.disk = { capacityBytes: 1000, availableBytes: 0 };
    add('a', 100);
    state.failing.add('a');
    await clock.advance(90_001);
    const message = 'wanted to free images older than 1m30s, encountered errors in image deletion: a is busy';
    expect(await collect()).toMatchObject({ removed: [], failure: { message } });
  });

  test('C47: only detects images if the collection is off', async () => {
    const { state, add, collect } = host({ policy: { highThresholdPercent: 100, maxAgeMs: 0 } });
    state.disk = { capacityBytes: 1000, availableBytes: 0 };
    add('a', 100);
    expect(await collect()).toEqual({ imageCount: 1, unusedCount: 1, removed: [] });
  });

  test('C47: rejects if the images cannot be listed', async () => {
    const { state, collect } = host();
    state.failing.add('list');
    await expect(collect()).rejects.toThrow('the runtime is away');
    state.failing.clear();
    await expect(collect()).resolves.toMatchObject({ imageCount: 0 });
  });

  test('C47: records the use of an image in wall-clock time', async () => {
    const { clock, state, add, collector } = host({ policy: { maxAgeMs: 10 * MINUTE } });
    add('a', 100);
    add('b', 100);
    const start = clock.now();
    state.containers = [{ imageRef: 'a' }];
    await collector.uses(options);
    await clock.advance(MINUTE);
    clock.set(7 * MINUTE);
    state.containers = [];
    expect(await collector.uses(options)).toEqual([
      {
        id: 'a',
        users: [],
        isPinned: false,
        unusedSince: start + 7 * MINUTE,
        position: 2,
        thresholdPercent: 85,
        expiresAt: start + 17 * MINUTE,
      },
      {
        id: 'b',
        users: [],
        isPinned: false,
        unusedSince: start + 7 * MINUTE,
        position: 1,
        thresholdPercent: 85,
        expiresAt: start + 17 * MINUTE,
      },
    ]);
  });

  test('C47: computes the same ages after the clock has been set', async () => {
    const { clock, add, collect, left } = host({ policy: { maxAgeMs: MINUTE } });
    add('a', 100);
    await collect();
    clock.set(1_000 * MINUTE);
    await collect();
    expect(left()).toEqual(['a']);
  });
});
