import { expect, test } from '@jest/globals';
import { ImageClaims } from '../../../actors/images/imageClaims.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';

const { signal } = new AbortController();

const podWith = (image: string, uid = 'web-uid'): Pod =>
  aPod({ containers: [aContainer({ image })] }, { name: 'web', uid });

const find = (claims: ImageClaims, pod: Pod, image: string, ...imageRefs: (string | null)[]) =>
  claims.claimWhile(pod, image, { find: async () => ({ imageRef: imageRefs.shift() ?? null }), signal });

const NGINX = { id: 'sha256:1', names: ['docker.io/library/nginx:latest'] };

test('C47: an image is claimed from the start of its check, under the name that the runtime lists', async () => {
  const claims = new ImageClaims();
  const check = Promise.withResolvers<{ imageRef: string | null }>();
  const checking = claims.claimWhile(podWith('nginx'), 'nginx', { find: () => check.promise, signal });
  expect(claims.podsWith(NGINX)).toEqual(['default/web']);
  expect(claims.podsWith({ id: 'sha256:2', names: ['docker.io/library/nginx:2'] })).toEqual([]);
  check.resolve({ imageRef: 'sha256:2' });
  await checking;
  expect(claims.podsWith({ id: 'sha256:2', names: ['docker.io/library/nginx:2'] })).toEqual(['default/web']);
});

test('C47: a claimed image is not removed', async () => {
  const claims = new ImageClaims();
  await find(claims, podWith('nginx'), 'nginx', NGINX.id);
  const remove = () => Promise.reject(new Error('it was removed'));
  expect(await claims.removeUnlessClaimed({ id: NGINX.id, names: [] }, remove)).toBe(false);
});

test('C47: a check that runs into the removal of its image waits for it, and then finds the image missing', async () => {
  const claims = new ImageClaims();
  const removal = Promise.withResolvers<void>();
  const removing = claims.removeUnlessClaimed({ id: 'sha256:1', names: ['short-name'] }, () => removal.promise);
  let isChecked = false;
  const checking = find(claims, podWith('nginx'), 'nginx', 'sha256:1', null).finally(() => {
    isChecked = true;
  });
  await new Promise(setImmediate);
  expect(isChecked).toBe(false);
  removal.resolve();
  expect([await removing, await checking]).toEqual([true, { imageRef: null }]);
});

test('C47: a check that meets a failed removal finds its image', async () => {
  const claims = new ImageClaims();
  const removal = Promise.withResolvers<void>();
  const removing = claims.removeUnlessClaimed({ id: 'sha256:1', names: [] }, () => removal.promise);
  const checking = find(claims, podWith('nginx'), 'nginx', 'sha256:1', 'sha256:1');
  removal.reject(new Error('it is busy'));
  await expect(removing).rejects.toThrow('it is busy');
  expect(await checking).toEqual({ imageRef: 'sha256:1' });
});

test('C47: a pod that changes its image no longer claims the former one', async () => {
  const claims = new ImageClaims();
  await find(claims, podWith('nginx'), 'nginx', NGINX.id);
  await find(claims, podWith('nginx:2'), 'nginx:2', 'sha256:2');
  expect([claims.podsWith(NGINX), claims.podsWith({ id: 'sha256:2', names: [] })]).toEqual([[], ['default/web']]);
});

test('C47: the image of a volume is claimed, too', async () => {
  const claims = new ImageClaims();
  const pod = aPod({ volumes: [{ name: 'data', image: { reference: 'data:1' } }] }, { name: 'web', uid: 'web-uid' });
  await find(claims, pod, 'data:1', 'sha256:3');
  await find(claims, pod, pod.spec.containers[0]?.image ?? '', 'sha256:4');
  expect(claims.podsWith({ id: 'sha256:3', names: [] })).toEqual(['default/web']);
});

test('C47: the claims of completed pods are dropped, except for those from after the pod list', async () => {
  const claims = new ImageClaims();
  await find(claims, podWith('nginx', 'over-uid'), 'nginx', NGINX.id);
  const until = claims.lastNumber;
  await find(claims, podWith('redis', 'new-uid'), 'redis', 'sha256:5');
  claims.retainPods([], until);
  expect([claims.podsWith(NGINX), claims.podsWith({ id: 'sha256:5', names: [] })]).toEqual([[], ['default/web']]);
});

test('the claims of a pod of many containers inspect its spec once, and again when the spec changes', async () => {
  const claims = new ImageClaims();
  let reads = 0;
  const countedPod = (images: readonly string[]): Pod => {
    const pod = aPod({ containers: images.map((image) => aContainer({ image })) }, { name: 'web', uid: 'web-uid' });
    const volumes = pod.spec.volumes ?? [];
    const spec = Object.defineProperty({ ...pod.spec }, 'volumes', {
      get: () => {
        reads += 1;
        return volumes;
      },
    });
    return { ...pod, spec };
  };
  const images = Array.from({ length: 100 }, (_, index) => `app:${index}`);
  const large = countedPod(images);
  for (const image of images) await find(claims, large, image, `sha256:${image}`);
  expect(reads).toBe(1);
  expect(claims.podsWith({ id: 'sha256:app:0', names: [] })).toEqual(['default/web']);
  await find(claims, countedPod(['app:99']), 'app:99', 'sha256:app:99');
  expect(reads).toBe(2);
  expect(claims.podsWith({ id: 'sha256:app:0', names: [] })).toEqual([]);
});
