import { expect, test } from '@jest/globals';
import { NodeImages } from '../../../../actors/cluster/node/nodeImages.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { Image, ListImagesResponse } from '../../../../cri/generated/runtime.ts';

const named = (size: number, repoTags: string[], repoDigests: string[] = []) =>
  Image.create({ id: repoTags[0] ?? 'none', repoTags, repoDigests, size });

/** Lists the images of a runtime that has the images in `has`, and counts the calls to the runtime. */
function images(has: { now: readonly Image[] | Error }, most = 50) {
  const clock = new SimulatedClock();
  let callCount = 0;
  const listImages = async () => {
    callCount += 1;
    if (has.now instanceof Error) throw has.now;
    return ListImagesResponse.create({ images: [...has.now] });
  };
  const list = new NodeImages({ cri: { listImages }, clock, maxImages: most });
  return { clock, list: () => list.list(new AbortController().signal), callCount: () => callCount };
}

test('images are listed largest first, each with its digests before its tags and with at most five names', async () => {
  const tags = ['a:1', 'a:2', 'a:3', 'a:4'];
  const { list } = images({ now: [named(1, ['b:1']), named(3, tags, ['a@sha256:1', 'a@sha256:2']), named(2, [])] });
  expect(await list()).toEqual([
    { names: ['a@sha256:1', 'a@sha256:2', 'a:1', 'a:2', 'a:3'], sizeBytes: 3 },
    { names: [], sizeBytes: 2 },
    { names: ['b:1'], sizeBytes: 1 },
  ]);
});

test.each([
  [2, ['c:1', 'b:1']],
  [0, []],
  [-1, ['c:1', 'b:1', 'a:1']],
])('with a maximum of %i images, the node reports %j', async (most, names) => {
  const { list } = images({ now: [named(1, ['a:1']), named(2, ['b:1']), named(3, ['c:1'])] }, most);
  expect((await list()).map((image) => image.names[0])).toEqual(names);
});

test('images are listed again after thirty seconds, and the last list is used while the runtime is down', async () => {
  const has: { now: readonly Image[] | Error } = { now: [named(1, ['a:1'])] };
  const { clock, list, callCount } = images(has);
  const first = await list();
  await clock.advance(29_999);
  await list();
  expect(callCount()).toBe(1);
  has.now = new Error('away');
  await clock.advance(1);
  expect(await list()).toEqual(first);
  expect(await list()).toEqual(first);
  expect(callCount()).toBe(3);
  has.now = [];
  expect(await list()).toEqual([]);
});
