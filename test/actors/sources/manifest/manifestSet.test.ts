import { describe, expect, test } from '@jest/globals';
import {
  ManifestFiles,
  type ManifestToStore,
  type StoredManifest,
} from '../../../../actors/sources/manifest/manifestSet.ts';
import { documents, ofSecret, podText, readAtOnce, secretText } from '../../../fakes/manifests.ts';

const FILE = '/pods/a.yaml';
const text = (more = '') =>
  `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {${more}containers: [{name: main, image: a}]}}`;

/** Returns the files of an agent that starts with what the previous agent has persisted. */
function files(lastGood?: StoredManifest, nodeName = 'node') {
  const persisted: ManifestToStore[] = [];
  const found = new ManifestFiles({
    nodeName,
    path: '/pods',
    isLenient: false,
    readManifests: readAtOnce,
    nextTurn: async () => {},
    storedManifests: new Map(lastGood ? [[FILE, lastGood]] : []),
    onManifest: (each) => persisted.push(each),
  });
  const list = async (content: string, mode?: number) => {
    await found.update(FILE, { text: content, mode }, 0);
    return found.takeChangedSet();
  };
  return { list, persisted, details: () => found.details() };
}

async function persistedOf(content: string): Promise<StoredManifest> {
  const { list, persisted } = files();
  await list(content);
  const good = persisted.at(-1)?.manifest;
  if (!good) throw new Error('no pod');
  return good;
}

describe('an unchanged file after a restart', () => {
  test('yields its last good version at once, and is read at the next list', async () => {
    const good = await persistedOf(text('restartPolcy: Never, '));
    const { list, persisted } = files(good);
    expect(await list(text('restartPolcy: Never, '))).toEqual({ pods: good.pods, problems: [], warnings: [] });
    const { pods, warnings } = (await list(text('restartPolcy: Never, '))) ?? {};
    expect(pods?.[0]).toBe(good.pods[0]);
    expect(warnings).toEqual([expect.objectContaining({ path: 'spec.restartPolcy' })]);
    expect(await list(text('restartPolcy: Never, '))).toBeUndefined();
    expect(persisted).toEqual([]);
  });

  test('yields a different pod at the next list if this agent parses it differently', async () => {
    const {
      pods: [pod],
      digest,
    } = await persistedOf(text());
    if (pod === undefined) throw new Error('no pod');
    const older = { pods: [{ ...pod, spec: { ...pod.spec, enableServiceLinks: false } }], digest };
    const { list, persisted } = files(older);
    expect((await list(text()))?.pods).toEqual(older.pods);
    expect((await list(text()))?.pods).toMatchObject([{ spec: { enableServiceLinks: true } }]);
    expect(persisted).toMatchObject([{ file: FILE, manifest: { digest } }]);
  });
});

test.each([
  ['another text', (good: StoredManifest) => good, text('restartPolicy: Never, ')],
  ['a pod of which the text is not known', ({ pods }: StoredManifest) => ({ pods }), text()],
])('the text is parsed immediately instead of reusing the stored pod: %s', async (_what, before, now) => {
  const { list, persisted } = files(before(await persistedOf(text())));
  const { pods } = (await list(now)) ?? {};
  expect(persisted).toEqual([{ file: FILE, manifest: { pods, digest: (await persistedOf(now)).digest } }]);
});

test('a status in a manifest file is ignored, so a different one yields the same pod', async () => {
  const { list } = files();
  const withStatus = (phase: string) => `${text().slice(0, -1)}, status: {phase: ${phase}}}`;
  const [first] = (await list(withStatus('Running')))?.pods ?? [];
  expect(first).not.toHaveProperty('status');
  expect((await list(withStatus('Failed')))?.pods[0]).toBe(first);
});

test('an unchanged file is read at once by a node with a different name, because its pod gets another name', async () => {
  const { list } = files(await persistedOf(text()), 'other');
  expect((await list(text()))?.pods).toMatchObject([{ metadata: { name: 'a-other' }, spec: { nodeName: 'other' } }]);
});

test('the original text after a rejected edit clears the problem', async () => {
  const good = await persistedOf(text());
  const { list } = files(good);
  expect(await list('kind: Po')).toMatchObject({ pods: good.pods, problems: [{ path: 'kind' }] });
  expect(await list(text())).toMatchObject({ pods: good.pods, problems: [] });
});

test('a pod with the same content in a different text is persisted again, so the next start recognizes that text', async () => {
  const { list, persisted } = files();
  await list(text());
  const [pod] = (await list(`${text()} # a comment`))?.pods ?? [];
  expect(persisted.map(({ manifest }) => manifest?.pods[0])).toEqual([pod, pod]);
  expect(persisted[1]?.manifest?.digest).not.toBe(persisted[0]?.manifest?.digest);
});

describe('a file with more than pods', () => {
  const both = (data = 'password: hunter2') => documents(podText('a', ofSecret('s')), secretText('s', data));

  test('is persisted without the other objects, and is read at once after a restart', async () => {
    const { list, persisted, details } = files();
    const { pods } = (await list(both())) ?? {};
    expect(persisted).toEqual([{ file: FILE, manifest: { pods } }]);
    expect(JSON.stringify(persisted)).not.toContain('hunter2');
    expect(details()).toMatchObject({
      objects: [{ object: { kind: 'Secret', name: 's' }, file: FILE }],
      files: new Map([[pods?.[0]?.metadata.uid, FILE]]),
    });
    const again = files(persisted[0]?.manifest ?? undefined);
    expect((await again.list(both()))?.pods).toEqual(pods);
    expect(again.details().objects).toHaveLength(1);
    expect(again.persisted).toEqual([]);
  });

  test('does not change its pod if only another object changes', async () => {
    const { list, persisted, details } = files();
    const before = await list(both());
    const after = await list(both('password: other'));
    expect(after?.pods[0]).toBe(before?.pods[0]);
    expect(String(details().objects[0]?.object.data.get('password'))).toBe('other');
    expect(persisted).toHaveLength(1);
  });

  test('retains a pod that has lost its object across a restart, and reports that', async () => {
    const first = files();
    const { pods } = (await first.list(both())) ?? {};
    const again = files(first.persisted[0]?.manifest ?? undefined);
    expect(await again.list(podText('a', ofSecret('s')))).toMatchObject({
      pods,
      problems: [],
      warnings: [{ message: 'Secret default/s is not in /pods; containers that need it start as soon as it exists' }],
    });
  });

  test('is read again after a restart while its pod waits for an object', async () => {
    const { list, persisted } = files();
    expect(await list(podText('a', ofSecret('s')))).toMatchObject({ pods: [{}], problems: [], warnings: [{}] });
    expect(persisted.map(({ manifest }) => manifest?.digest)).toEqual([undefined]);
    expect((await list(both()))?.pods).toHaveLength(1);
    expect(persisted).toHaveLength(1);
  });

  test.each([
    [0o100644, [`contains a Secret and has mode 0644, so that others may read it; use mode 0600`]],
    [0o100640, [`contains a Secret and has mode 0640, so that others may read it; use mode 0600`]],
    [0o100600, []],
    [0o100400, []],
  ])('causes a warning only if it contains a Secret and others may read it (mode %o)', async (mode, told) => {
    const { list } = files();
    const set = await list(both(), mode);
    expect(set?.warnings.map(({ message }) => message)).toEqual(told);
    expect((await list(podText('b'), mode))?.warnings).toEqual([]);
  });

  test('causes no warning once its mode has been corrected', async () => {
    const { list } = files();
    expect((await list(both(), 0o644))?.warnings).toHaveLength(1);
    expect((await list(both(), 0o600))?.warnings).toEqual([]);
    expect(await list(both(), 0o600)).toBeUndefined();
  });
});
