import { expect, test } from '@jest/globals';
import { systemClock } from '../../../actors/clock.ts';
import { imageServices } from '../../../actors/services/images.ts';
import type { Cri } from '../../../cri/calls.ts';
import { PullImageResponse } from '../../../cri/generated/runtime.ts';
import { NodeFailure } from '../../../pod/failure.ts';
import type { Credential } from '../../../pod/images/keyring.ts';
import { node, pod } from '../../cri/nodeAndPod.ts';

/** Pulls with these users, of whom the registry answers each with its own words or, where it has none, the image. */
async function pullAs(users: readonly string[], words: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const cri = {
    pullImage: async ({ auth }) => {
      const user = auth?.username ?? '';
      asked.push(user);
      const said = words[user];
      if (said !== undefined) throw new NodeFailure('RuntimeError', said);
      return PullImageResponse.fromPartial({ imageRef: 'sha256:1' });
    },
    imageStatus: async () => ({ image: undefined, info: {} }),
  } satisfies Pick<Cri, 'pullImage' | 'imageStatus'>;
  const credentials: Credential[] = users.map((username) => ({ username, password: 'hunter2' }));
  // Nothing else of the runtime is asked.
  const { pullImage } = imageServices({
    ...{ cri: cri as unknown as Cri, clock: systemClock, node: () => node() },
    findCredentials: async () => credentials,
  });
  const input = { pod: pod(), image: 'r.example/app:1', limitMs: undefined };
  const end = await pullImage(input, { signal: new AbortController().signal }).then(
    ({ imageRef }) => imageRef,
    (error: unknown) => (error instanceof NodeFailure ? `${error.reason}: ${error.message}` : String(error)),
  );
  return { asked, end };
}

test('C16: credentials are tried one after the other, none where there is none', async () => {
  expect(await pullAs([], {})).toEqual({ asked: [''], end: 'sha256:1' });
  expect(await pullAs(['a', 'b', 'c'], { a: 'denied' })).toEqual({ asked: ['a', 'b'], end: 'sha256:1' });
});

test('what went wrong with all of them is told together, the same words once', async () => {
  const { end } = await pullAs(['a', 'b', 'c'], { a: 'denied', b: 'expired', c: 'denied' });
  expect(end).toBe('ErrImagePull: [denied, expired]');
  expect((await pullAs(['a', 'b'], { a: 'denied', b: 'denied' })).end).toBe('ErrImagePull: denied');
});
