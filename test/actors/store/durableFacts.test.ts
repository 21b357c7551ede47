import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openNodeStore } from '../../../actors/store/durableFacts.ts';
import { aPod } from '../../pod/fixtures.ts';

test('the last good version of a manifest is kept with the digest of its text; an older agent kept the pod alone', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-facts-'));
  try {
    const { store } = await openNodeStore(directory);
    await store.write('manifests', 'new', { pod: aPod(), digest: 'abc' });
    const older = join(directory, 'statelet/manifests/old.json');
    await writeFile(older, JSON.stringify({ key: 'old', value: aPod() }));
    const broken = join(directory, 'statelet/manifests/broken.json');
    await writeFile(broken, JSON.stringify({ key: 'broken', value: { pod: { ...aPod(), spec: { containers: 3 } } } }));
    const { durable } = await openNodeStore(directory);
    expect(durable.damaged).toEqual([
      `${broken}: value.pod.spec.containers: expected array, got number; renamed to .corrupt`,
    ]);
    expect(durable.manifests.get('new')).toEqual({ pod: aPod(), digest: 'abc' });
    expect(durable.manifests.get('old')).toEqual({ pod: aPod() });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
