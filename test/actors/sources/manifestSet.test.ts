import { describe, expect, test } from '@jest/globals';
import { type GoodManifest, ManifestFiles, type ManifestToStore } from '../../../actors/sources/manifestSet.ts';
import { readAtOnce } from '../../fakes/manifests.ts';

const FILE = '/pods/a.yaml';
const text = (more = '') =>
  `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {${more}containers: [{name: main, image: a}]}}`;

/** The files of an agent that finds what the one before has kept. */
function files(lastGood?: GoodManifest, nodeName = 'node') {
  const kept: ManifestToStore[] = [];
  const found = new ManifestFiles({
    nodeName,
    isLenient: false,
    readManifests: readAtOnce,
    nextTurn: async () => {},
    lastGood: new Map(lastGood ? [[FILE, lastGood]] : []),
    onManifest: (each) => kept.push(each),
  });
  const list = async (content: string) => {
    await found.update(FILE, { text: content }, 0);
    return found.take();
  };
  return { list, kept };
}

async function keptOf(content: string): Promise<GoodManifest> {
  const { list, kept } = files();
  await list(content);
  const good = kept.at(-1)?.manifest;
  if (!good) throw new Error('no pod');
  return good;
}

describe('a file that has not changed over a restart', () => {
  test('gives its last good version at once, and is read at the next list', async () => {
    const good = await keptOf(text('restartPolcy: Never, '));
    const { list, kept } = files(good);
    expect(await list(text('restartPolcy: Never, '))).toEqual({ pods: good.pods, problems: [], warnings: [] });
    const { pods, warnings } = (await list(text('restartPolcy: Never, '))) ?? {};
    expect(pods?.[0]).toBe(good.pods[0]);
    expect(warnings).toEqual([expect.objectContaining({ path: 'spec.restartPolcy' })]);
    expect(await list(text('restartPolcy: Never, '))).toBeUndefined();
    expect(kept).toEqual([]);
  });

  test('gives another pod at the next list when this agent reads it otherwise', async () => {
    const {
      pods: [pod],
      digest,
    } = await keptOf(text());
    if (pod === undefined) throw new Error('no pod');
    const older = { pods: [{ ...pod, spec: { ...pod.spec, enableServiceLinks: false } }], digest };
    const { list, kept } = files(older);
    expect((await list(text()))?.pods).toEqual(older.pods);
    expect((await list(text()))?.pods).toMatchObject([{ spec: { enableServiceLinks: true } }]);
    expect(kept).toMatchObject([{ file: FILE, manifest: { digest } }]);
  });
});

test.each([
  ['another text', (good: GoodManifest) => good, text('restartPolicy: Never, ')],
  ['a pod of which the text is not known', ({ pods }: GoodManifest) => ({ pods }), text()],
])('%s is read at once', async (_what, before, now) => {
  const { list, kept } = files(before(await keptOf(text())));
  const { pods } = (await list(now)) ?? {};
  expect(kept).toEqual([{ file: FILE, manifest: { pods, digest: (await keptOf(now)).digest } }]);
});

test('a status in a file counts for nothing: with another one the pod is the same', async () => {
  const { list } = files();
  const withStatus = (phase: string) => `${text().slice(0, -1)}, status: {phase: ${phase}}}`;
  const [first] = (await list(withStatus('Running')))?.pods ?? [];
  expect(first).not.toHaveProperty('status');
  expect((await list(withStatus('Failed')))?.pods[0]).toBe(first);
});

test('so is the same text by a node of another name: its pod has another', async () => {
  const { list } = files(await keptOf(text()), 'other');
  expect((await list(text()))?.pods).toMatchObject([{ metadata: { name: 'a-other' }, spec: { nodeName: 'other' } }]);
});

test('so is the text of before after one that was refused: what was wrong is over', async () => {
  const good = await keptOf(text());
  const { list } = files(good);
  expect(await list('kind: Po')).toMatchObject({ pods: good.pods, problems: [{ path: 'kind' }] });
  expect(await list(text())).toMatchObject({ pods: good.pods, problems: [] });
});

test('the same pod in another text is kept again: the next start knows it by that text', async () => {
  const { list, kept } = files();
  await list(text());
  const [pod] = (await list(`${text()} # a comment`))?.pods ?? [];
  expect(kept.map(({ manifest }) => manifest?.pods[0])).toEqual([pod, pod]);
  expect(kept[1]?.manifest?.digest).not.toBe(kept[0]?.manifest?.digest);
});
