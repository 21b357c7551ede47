import { expect, test } from '@jest/globals';
import { createImageUserFinder } from '../../../../actors/services/images/imageUserFinder.ts';
import { Image } from '../../../../cri/generated/runtime.ts';

const options = { signal: new AbortController().signal };
const digest = `sha256:${'a'.repeat(64)}`;

/** Returns a runtime whose images run as user 7 unless the test sets another one. */
function runtime() {
  const state = { uid: 7n as bigint | undefined, calls: 0 };
  const find = createImageUserFinder({
    imageStatus: async () => {
      state.calls += 1;
      const image = state.uid === undefined ? undefined : Image.create({ uid: { value: state.uid } });
      return { image, info: {} };
    },
  });
  return { state, find };
}

test('the image user of a digest is looked up once', async () => {
  const { state, find } = runtime();
  expect(await find(digest, options)).toEqual({ uid: 7n });
  expect(await find(digest, options)).toEqual({ uid: 7n });
  expect(state.calls).toBe(1);
});

test('the image user of a tag is looked up each time, because the tag may move', async () => {
  const { state, find } = runtime();
  await find('registry.local/app:1', options);
  state.uid = 8n;
  expect(await find('registry.local/app:1', options)).toEqual({ uid: 8n });
});

test('an image that no longer exists is reported, and looked up again the next time', async () => {
  const { state, find } = runtime();
  state.uid = undefined;
  await expect(find(digest, options)).rejects.toMatchObject({
    reason: 'NotFound',
    message: `image ${digest} no longer exists`,
  });
  state.uid = 0n;
  expect(await find(digest, options)).toEqual({ uid: 0n });
});
