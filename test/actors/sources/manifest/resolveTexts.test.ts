import { describe, expect, test } from '@jest/globals';
import { type DocumentHolders, resolveTexts } from '../../../../actors/sources/manifest/resolveTexts.ts';
import { EMPTY_PARSED_TEXT, type ParsedText, updateText } from '../../../../actors/sources/textDocuments.ts';
import {
  configText,
  documents,
  ofConfig,
  ofSecret,
  podText,
  readDocuments,
  secretText,
} from '../../../fakes/manifests.ts';

const [A, B] = ['/pods/a.yaml', '/pods/b.yaml'];

/** Returns the files of a source, which are resolved after each change. */
function source(textNoun: 'file' | 'response' = 'file') {
  let updatedTexts: ReadonlyMap<string, ParsedText> = new Map();
  let documentHolders: DocumentHolders = new Map();
  return async (files: Readonly<Record<string, string>>) => {
    const read = Object.entries(files).map(async ([file, text]) => {
      const before = updatedTexts.get(file) ?? EMPTY_PARSED_TEXT;
      return [file, await updateText(before, readDocuments(text, { origin: file }), async () => {})] as const;
    });
    const found = resolveTexts(new Map(await Promise.all(read)), documentHolders, {
      textNoun,
      searchedLocation: '/pods',
    });
    ({ updatedTexts, documentHolders } = found);
    const pods = found.pods.map(({ metadata }) => metadata.name);
    const messages = found.problems.map(({ file, path, message }) => `${file}: ${path}: ${message}`);
    return { ...found, pods, messages, found };
  };
}

describe('a pod that references a ConfigMap or a Secret', () => {
  const missing = 'spec.volumes[0].configMap: ConfigMap default/c is not in /pods';
  const warningsOf = ({ warnings }: { readonly warnings: readonly { path: string; message: string }[] }) =>
    warnings.map(({ path, message }) => `${path}: ${message}`);

  test('is accepted at once, with a warning until its source has the object', async () => {
    const settle = source();
    const alone = await settle({ [A]: podText('p', ofConfig('c')) });
    expect(alone).toMatchObject({ pods: ['p-node'], messages: [] });
    expect(alone.warnings).toMatchObject([{ file: A, pod: 'default/p-node' }]);
    expect(warningsOf(alone)).toEqual([`${missing}; containers that need it start as soon as it exists`]);
    const both = await settle({ [A]: podText('p', ofConfig('c')), [B]: configText('c', 'k: v') });
    expect(both).toMatchObject({ pods: ['p-node'], messages: [], warnings: [] });
    expect(both.objects).toMatchObject([{ object: { kind: 'ConfigMap', name: 'c' }, file: B }]);
    expect([...both.fileOf.values()]).toEqual([A]);
    expect(both.found.pods[0]).toBe(alone.found.pods[0]);
  });

  test('runs without an optional object', async () => {
    const optional = ofConfig('c').replace('{name: c}', '{name: c, optional: true}');
    expect(warningsOf(await source()({ [A]: podText('p', optional) }))).toEqual([
      `${missing}; the pod runs without it`,
    ]);
  });

  test('may have the object in its own file', async () => {
    const text = documents(podText('p', ofSecret('s')), secretText('s', 'k: v'));
    expect(await source()({ [A]: text })).toMatchObject({ pods: ['p-node'], messages: [], warnings: [] });
  });

  test('stays accepted when the object disappears, and a changed version waits for the object', async () => {
    const settle = source();
    const before = await settle({ [A]: podText('p', ofConfig('c')), [B]: configText('c', 'k: v') });
    const after = await settle({ [A]: podText('p', ofConfig('c')) });
    expect(after).toMatchObject({ pods: ['p-node'], messages: [], objects: [] });
    expect(warningsOf(after)).toEqual([`${missing}; containers that need it start as soon as it exists`]);
    expect(after.found.pods[0]).toBe(before.found.pods[0]);
    const other = await settle({ [A]: podText('p', ofConfig('c'), 'other') });
    expect(other.found.pods[0]).toBe(before.found.pods[0]);
    expect(other).toMatchObject({
      messages: [`${A}: ${missing}; the last version of the pod is used until it is`],
      warnings: [],
    });
    expect(other.problems[0]).toMatchObject({
      pod: 'default/p-node',
      until: 'the file changes, or a file has ConfigMap default/c',
    });
    const again = await settle({ [A]: podText('p', ofConfig('c'), 'other'), [B]: configText('c', 'k: v') });
    expect(again).toMatchObject({ messages: [], warnings: [] });
    expect(again.found.pods[0]?.spec.containers[0]?.image).toBe('other');
  });

  test('is not satisfied by an object of a different kind, name or namespace', async () => {
    const elsewhere = configText('c', '').replace('name: c', 'name: c, namespace: other');
    const others = documents(elsewhere, configText('d', ''), secretText('c', ''));
    expect((await source()({ [A]: podText('p', ofConfig('c')), [B]: others })).warnings).toHaveLength(1);
    const there = podText('p', ofConfig('c')).replace('name: p', 'name: p, namespace: other');
    expect((await source()({ [A]: there, [B]: others })).warnings).toEqual([]);
  });

  test('waits until the URL response contains the object', async () => {
    const settle = source('response');
    await settle({ [A]: podText('p') });
    const { problems } = await settle({ [A]: podText('p', ofConfig('c')) });
    expect(problems).toMatchObject([{ until: 'the response changes, or it has ConfigMap default/c' }]);
  });
});

test('of two files with the same object the first is used, and the other is reported', async () => {
  const settle = source();
  const valueIn = (found: Awaited<ReturnType<typeof settle>>) =>
    found.objects.map(({ object }) => object.data.get('k'));
  expect(valueIn(await settle({ [B]: configText('c', 'k: b') }))).toEqual(['b']);
  const both = await settle({ [A]: configText('c', 'k: a'), [B]: configText('c', 'k: b2') });
  expect(valueIn(both)).toEqual(['b2']);
  expect(both.messages).toEqual([
    `${A}: metadata.name: Duplicate value: ConfigMap default/c is already used from ${B}`,
  ]);
  expect(both.problems).toMatchObject([{ until: 'one of the two files changes' }]);
  expect(valueIn(await settle({ [A]: configText('c', 'k: a') }))).toEqual(['a']);
});

test('of two pods with the same UID the first is used, even in one file', async () => {
  const withUid = (name: string) => podText(name).replace('}', ', uid: same}');
  const settle = source();
  await settle({ [B]: withUid('b') });
  expect(await settle({ [A]: withUid('a'), [B]: withUid('b') })).toMatchObject({
    pods: ['b-node'],
    messages: [`${A}: metadata.uid: Duplicate value: "same": already used by the pod in ${B}`],
  });
  expect((await source()({ [A]: documents(withUid('a'), withUid('b')) })).pods).toEqual(['a-node']);
});
