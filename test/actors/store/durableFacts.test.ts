import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openNodeStore } from '../../../actors/store/durableFacts.ts';
import { aPod } from '../../kubernetes/fixtures.ts';

test('the last good pods of a manifest are persisted with a digest of its text, and the formats of older agents are readable', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-facts-'));
  try {
    const { store } = await openNodeStore(directory);
    await store.write('manifests', 'new', { pods: [aPod(), aPod()], digest: 'abc' });
    const older = join(directory, 'statelet/manifests/old.json');
    await writeFile(older, JSON.stringify({ key: 'old', value: aPod() }));
    const old = join(directory, 'statelet/manifests/older.json');
    await writeFile(old, JSON.stringify({ key: 'older', value: { pod: aPod(), digest: 'abc' } }));
    const broken = join(directory, 'statelet/manifests/broken.json');
    await writeFile(
      broken,
      JSON.stringify({ key: 'broken', value: { pods: [{ ...aPod(), spec: { containers: 3 } }] } }),
    );
    const { durable } = await openNodeStore(directory);
    expect(durable.damaged).toEqual([
      `${broken}: value.pods[0].spec.containers: expected array, got number; renamed to .corrupt`,
    ]);
    expect(durable.manifests.get('new')).toEqual({ pods: [aPod(), aPod()], digest: 'abc' });
    expect(durable.manifests.get('older')).toEqual({ pods: [aPod()], digest: 'abc' });
    expect(durable.manifests.get('old')).toEqual({ pods: [aPod()] });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
