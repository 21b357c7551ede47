import { expect, test } from '@jest/globals';
import { createImageUserFinder } from '../../../../actors/services/images/imageUserFinder.ts';
import { Image } from '../../../../cri/generated/runtime.ts';

const options = { signal: new AbortController().signal };
const digest = `sha256:${'a'.repeat(64)}`;

/** A runtime whose images run as user 7 until told otherwise. */
function runtime() {
  const said = { uid: 7n as bigint | undefined, calls: 0 };
  const find = createImageUserFinder({
    imageStatus: async () => {
      said.calls += 1;
      const image = said.uid === undefined ? undefined : Image.create({ uid: { value: said.uid } });
      return { image, info: {} };
    },
  });
  return { said, find };
}

test('the image user of a digest is looked up once', async () => {
  const { said, find } = runtime();
  expect(await find(digest, options)).toEqual({ uid: 7n });
  expect(await find(digest, options)).toEqual({ uid: 7n });
  expect(said.calls).toBe(1);
});

test('the image user of a tag is looked up each time, because the tag may move', async () => {
  const { said, find } = runtime();
  await find('registry.local/app:1', options);
  said.uid = 8n;
  expect(await find('registry.local/app:1', options)).toEqual({ uid: 8n });
});

test('an image that no longer exists is reported, and looked up again the next time', async () => {
  const { said, find } = runtime();
  said.uid = undefined;
  await expect(find(digest, options)).rejects.toMatchObject({
    reason: 'NotFound',
    message: `image ${digest} no longer exists`,
  });
  said.uid = 0n;
  expect(await find(digest, options)).toEqual({ uid: 0n });
});
