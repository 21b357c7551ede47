import { expect, test } from '@jest/globals';
import { PullProofs } from '../../../actors/images/pullProofs.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import { Image, ListImagesResponse } from '../../../cri/generated/runtime.ts';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { registerServiceActionMetrics } from '../../../kubelet-api/metrics/agent/serviceActionMetrics.ts';
import { Registry } from '../../../kubelet-api/metrics/registry.ts';
import type { ImageVerification } from '../../../kubernetes/images/imageVerification.ts';
import type { Credential } from '../../../kubernetes/images/keyring.ts';
import { formatIntent, formatRecord, readRecord, recordFileName } from '../../../kubernetes/images/pulledRecord.ts';
import { samplesOf } from '../../kubelet-api/metrics/support/scraped.ts';

const options = { signal: new AbortController().signal };
const APP = { image: 'r.example/app:1', imageRef: 'sha256:app' };
const PULLING = '/root/image_manager/pulling';
const PULLED = '/root/image_manager/pulled';

const ofSecret = (name: string, password = 'hunter2'): Credential => ({
  username: 'me',
  password,
  source: { kind: 'secret', uid: `uid-${name}`, namespace: 'shop', name },
});

/** A disk and the images of a runtime, on which successive agents run. */
function host(images: readonly Partial<Image>[] = [{ id: APP.imageRef, repoTags: [APP.image] }]) {
  const clock = new SimulatedClock();
  const disk = new MemoryDisk(() => clock.now());
  const failing = { on: (_path: string): boolean => false };
  const files = new MemoryFiles(disk, ({ path }) => (failing.on(path) ? { code: 'EIO' } : undefined));
  const errors: string[] = [];
  const registry = new Registry();
  const onServiceAction = registerServiceActionMetrics(registry);
  const life = (policy: ImageVerification['policy'] = 'NeverVerifyPreloadedImages') =>
    new PullProofs({
      rootDir: '/root',
      files,
      clock,
      verification: { policy, allowlist: [] },
      cri: {
        listImages: async () =>
          ListImagesResponse.fromPartial({ images: images.map((each) => Image.fromPartial(each)) }),
      },
      onError: (_, error) => void errors.push(String(error)),
      onServiceAction,
    });
  const namesIn = (directory: string) => files.readdir(directory).catch(() => []);
  const record = async () => readRecord(await files.readFile(`${PULLED}/${recordFileName(APP.imageRef)}`));
  const counted = async () => {
    const samples = await samplesOf(registry);
    return (name: string) => samples.get(`kubelet_imagemanager_${name}`);
  };
  return { life, files, failing, errors, namesIn, record, counted };
}

const pullAs = (proofs: PullProofs, credential?: Credential) =>
  proofs.pull(APP.image, async () => ({ imageRef: APP.imageRef, credential }), options);

const mustPull = (proofs: PullProofs, ...credentials: readonly Credential[]) =>
  proofs.mustPull(APP, async () => credentials, options);

test('an image that this agent did not pull needs no proof, unless the policy is AlwaysVerify', async () => {
  const { life, namesIn } = host();
  expect(await mustPull(life())).toBe(false);
  expect(await mustPull(life('AlwaysVerify'))).toBe(true);
  expect(await namesIn('/root')).toEqual([]);
});

test('another pod must prove its right to an image pulled with the Secret of a pod, even after an agent restart', async () => {
  const { life, namesIn, record } = host();
  const first = life();
  await pullAs(first, ofSecret('pull'));
  expect(await namesIn(PULLING)).toEqual([]);
  expect(await record()).toMatchObject({
    credentialsByImage: { 'r.example/app': { kubernetesSecrets: [{ name: 'pull' }] } },
  });
  for (const proofs of [first, life()]) {
    expect(await mustPull(proofs)).toBe(true);
    expect(await mustPull(proofs, ofSecret('other', 'x'))).toBe(true);
    expect(await mustPull(proofs, ofSecret('pull'))).toBe(false);
  }
  expect(await mustPull(life('NeverVerify'))).toBe(false);
});

test('a copy of the Secret proves the right to an image, and is recorded in case it changes', async () => {
  const { life, record } = host();
  const proofs = life();
  await pullAs(proofs, ofSecret('pull'));
  expect(await mustPull(proofs, ofSecret('copy'))).toBe(false);
  expect((await record())?.credentialsByImage['r.example/app']?.kubernetesSecrets?.map(({ name }) => name)).toEqual([
    'copy',
    'pull',
  ]);
  expect(await mustPull(proofs, ofSecret('copy', 'new'))).toBe(false);
});

test('an image pulled anonymously or with node credentials is available to every pod, under that name', async () => {
  const { life } = host();
  const proofs = life();
  await pullAs(proofs, { username: 'node', password: 'x' });
  const asked = () => Promise.reject(new Error('nobody needs them'));
  expect(await proofs.mustPull(APP, asked, options)).toBe(false);
  expect(await proofs.mustPull({ ...APP, image: 'r.example/app:2' }, asked, options)).toBe(false);
  expect(await proofs.mustPull({ ...APP, image: 'r.example/other' }, asked, options)).toBe(true);
});

test('an image counts as pulled by credentials during its pull, and a failed pull leaves no record', async () => {
  const { life, namesIn, files } = host();
  const proofs = life();
  const begin = () => {
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
    const pull = () => {
      begun.resolve();
      return end.promise;
    };
    return {
      pulled: proofs.pull(APP.image, pull, options),
      begun: begun.promise,
      fail: () => end.reject(new Error('denied')),
    };
  };
  const [first, second] = [begin(), begin()];
  await Promise.all([first.begun, second.begun]);
  expect(await mustPull(proofs)).toBe(true);
  expect(await files.readFile(`${PULLING}/${recordFileName(APP.image)}`)).toBe(formatIntent(APP.image));
  first.fail();
  await expect(first.pulled).rejects.toThrow('denied');
  // The other pull is still in progress.
  expect(await namesIn(PULLING)).toHaveLength(1);
  second.fail();
  await expect(second.pulled).rejects.toThrow('denied');
  expect(await namesIn(PULLING)).toEqual([]);
  expect(await mustPull(proofs)).toBe(false);
});

test('an image whose pull was interrupted by an agent crash requires a proof from each pod', async () => {
  const { life, files, namesIn, record } = host();
  await files.mkdir(PULLING, { recursive: true });
  for (const image of [APP.image, 'r.example/never:1']) {
    await files.writeFile(`${PULLING}/${recordFileName(image)}`, formatIntent(image));
  }
  expect(await mustPull(life(), ofSecret('pull'))).toBe(true);
  expect(await record()).toEqual({ imageRef: APP.imageRef, credentialsByImage: {} });
  expect(await namesIn(PULLING)).toEqual([recordFileName('r.example/never:1')]);
});

test('records of removed images are deleted, unless the runtime reports no images at all', async () => {
  for (const [images, left] of [
    [[{ id: APP.imageRef }], 1],
    [[], 2],
  ] as const) {
    const { life, files, namesIn } = host(images);
    await files.mkdir(PULLED, { recursive: true });
    for (const imageRef of [APP.imageRef, 'sha256:gone']) {
      await files.writeFile(
        `${PULLED}/${recordFileName(imageRef)}`,
        formatRecord({ imageRef, credentialsByImage: {} }, 0),
      );
    }
    await mustPull(life());
    expect(await namesIn(PULLED)).toHaveLength(left);
  }
});

test('an unreadable pull record proves nothing, and the next pull replaces it', async () => {
  const { life, files, errors, record } = host();
  await files.mkdir(PULLED, { recursive: true });
  await files.writeFile(`${PULLED}/${recordFileName(APP.imageRef)}`, '{"kind":');
  const proofs = life();
  expect(await mustPull(proofs, ofSecret('pull'))).toBe(true);
  expect(errors).toEqual([expect.stringContaining('cannot be read')]);
  await pullAs(proofs, ofSecret('pull'));
  expect(await mustPull(proofs, ofSecret('pull'))).toBe(false);
  expect(await record()).toBeDefined();
});

test('a damaged pull record proves nothing for its image, and does not affect the other records', async () => {
  const { life, files, failing, errors } = host();
  await pullAs(life(), ofSecret('pull'));
  const damaged = `${PULLED}/${recordFileName('sha256:other')}`;
  await files.writeFile(damaged, formatRecord({ imageRef: 'sha256:other', credentialsByImage: {} }, 0));
  failing.on = (path) => path === damaged;
  const proofs = life();
  expect(await mustPull(proofs, ofSecret('pull'))).toBe(false);
  expect(await proofs.mustPull({ ...APP, imageRef: 'sha256:other' }, async () => [ofSecret('pull')], options)).toBe(
    true,
  );
  await pullAs(proofs, ofSecret('pull'));
  expect(errors[0]).toContain(`${damaged} cannot be read`);
});

test('without readable records no right is proven, and without a writable directory no image is pulled', async () => {
  const { life, failing, errors } = host();
  const proofs = life();
  failing.on = () => true;
  expect(await mustPull(proofs)).toBe(true);
  const failure = await pullAs(proofs).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(NodeFailure);
  expect(failure).toMatchObject({
    reason: 'ErrImagePull',
    message: expect.stringMatching(/^Failed to record image pull intent for container image "r.example\/app:1": EIO/),
  });
  failing.on = () => false;
  expect(await mustPull(proofs)).toBe(false);
  expect(errors).toHaveLength(1);
});

test('a pull whose record cannot be written leaves its intent on disk for the next agent', async () => {
  const { life, failing, errors, namesIn } = host();
  const proofs = life();
  await mustPull(proofs);
  failing.on = (path) => path.startsWith(PULLED);
  await pullAs(proofs, ofSecret('pull'));
  failing.on = () => false;
  expect(errors).toEqual([expect.stringContaining('EIO')]);
  expect(await namesIn(PULLING)).toHaveLength(1);
  expect(await mustPull(life(), ofSecret('pull'))).toBe(true);
});

test('C42: metrics count proof checks by outcome, and the records and intents on disk', async () => {
  const { life, counted } = host();
  const proofs = life();
  const check = (credentials: readonly Credential[]) => proofs.mustPull(APP, async () => credentials, options);
  expect(await check([])).toBe(false);
  const owner = ofSecret('owner');
  const pull = async () => {
    expect((await counted())('ondisk_pullintents')).toBe(1);
    return { imageRef: APP.imageRef, credential: owner };
  };
  await proofs.pull(APP.image, pull, options);
  expect(await check([owner])).toBe(false);
  expect(await check([])).toBe(true);
  const now = await counted();
  expect(now('image_mustpull_checks_total{result="credentialPolicyAllowed"}')).toBe(1);
  expect(now('image_mustpull_checks_total{result="credentialRecordFound"}')).toBe(1);
  expect(now('image_mustpull_checks_total{result="mustAuthenticate"}')).toBe(1);
  expect([now('ondisk_pulledrecords'), now('ondisk_pullintents')]).toEqual([1, 0]);
});
