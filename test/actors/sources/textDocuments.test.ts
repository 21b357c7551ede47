import { describe, expect, test } from '@jest/globals';
import { EMPTY_PARSED_TEXT, type ParsedText, updateText } from '../../../actors/sources/textDocuments.ts';
import { configText, documents, ofConfig, podText, readDocuments, secretText } from '../../fakes/manifests.ts';

/** Reads these texts one after the other, and returns the resulting state. */
async function stateAfter(...texts: readonly string[]): Promise<ParsedText> {
  let state = EMPTY_PARSED_TEXT;
  for (const text of texts) {
    state = await updateText(state, readDocuments(text), async () => {});
    // Pending pods are accepted, as if the objects that they reference existed.
    const used = Array.from(state.documents, ([key, document]) => {
      const pod = document.pendingPod?.pod ?? document.pod;
      return [key, { ...document, ...(pod ? { pod } : {}) }] as const;
    });
    state = { ...state, documents: new Map(used) };
  }
  return state;
}

const keysOf = ({ documents: all }: ParsedText) => [...all.keys()].map((key) => key.replace('/default/', ' '));
const imageOf = ({ documents: all }: ParsedText, name: string) =>
  all.get(`Pod/default/${name}-node`)?.pod?.spec.containers[0]?.image;
const messagesOf = ({ problems }: ParsedText) => problems.map(({ path, message }) => `${path}: ${message}`);
const broken = 'a: [\n';

describe('a document of a multi-document file', () => {
  test('retains its last good version if it is invalid, while the others are updated', async () => {
    const wrong = podText('b', 'restartPolicy: Perhaps, ');
    const state = await stateAfter(documents(podText('a'), podText('b')), documents(podText('a', '', 'other'), wrong));
    expect(imageOf(state, 'a')).toBe('other');
    expect(imageOf(state, 'b')).toBe('busybox:1');
    expect(state.problems).toMatchObject([{ path: 'documents[1].spec.restartPolicy', pod: 'default/b-node' }]);
  });

  test('is removed when it disappears, even if another identifiable document is invalid', async () => {
    const three = documents(podText('a'), podText('b'), configText('c', 'k: v'));
    expect(keysOf(await stateAfter(three, documents(podText('b'), configText('c', 'k: 5'))))).toEqual([
      'Pod b-node',
      'ConfigMap c',
    ]);
  });

  test('is not removed while another document cannot be parsed, because that may be the missing one', async () => {
    const text = documents(podText('a'), podText('b'));
    expect(keysOf(await stateAfter(text, documents(podText('c'), broken)))).toEqual([
      'Pod c-node',
      'Pod a-node',
      'Pod b-node',
    ]);
    expect(keysOf(await stateAfter(text, documents(podText('c'), broken), podText('c')))).toEqual(['Pod c-node']);
    expect(keysOf(await stateAfter(text, documents(podText('c'), 'kind: Po\n')))).toHaveLength(3);
  });

  test('is not removed if no document is valid', async () => {
    expect(keysOf(await stateAfter(podText('a'), podText('a').replace('Pod', 'Deployment')))).toEqual(['Pod a-node']);
    expect(keysOf(await stateAfter(podText('a'), podText('b', 'restartPolicy: No, ')))).toEqual(['Pod a-node']);
    const service = podText('s').replace('Pod', 'Service');
    expect(keysOf(await stateAfter(documents(podText('a'), podText('b')), documents(podText('b'), service)))).toEqual([
      'Pod b-node',
    ]);
  });

  test('is removed by an empty list, which is valid', async () => {
    expect(keysOf(await stateAfter(podText('a'), 'kind: List\nitems: []\n'))).toEqual([]);
  });
});

test('the UID of a pod does not depend on the other documents or their order', async () => {
  const uidOf = ({ documents: all }: ParsedText) => all.get('Pod/default/a-node')?.pod?.metadata.uid;
  const alone = uidOf(await stateAfter(podText('a')));
  // The UID that an agent has assigned which read only one document of a file.
  expect(alone).toBe('9a4b410836f95b6e8ebd5739568d9ec3');
  expect(uidOf(await stateAfter(documents(podText('b'), configText('c', ''), podText('a'))))).toBe(alone);
  expect(uidOf(await stateAfter(documents(podText('a'), podText('b'))))).toBe(alone);
  expect(uidOf(await stateAfter(`{kind: List, items: [${podText('a').trim()}]}`))).toBe(alone);
});

test('of duplicate documents in a text the first counts', async () => {
  const text = documents(
    podText('a'),
    podText('a', '', 'other'),
    configText('c', 'k: first'),
    configText('c', 'k: second'),
  );
  const state = await stateAfter(text);
  expect(imageOf(state, 'a')).toBe('busybox:1');
  expect(state.documents.get('ConfigMap/default/c')?.object?.data.get('k')).toBe('first');
  expect(messagesOf(state)).toEqual([
    'documents[1].metadata.name: Duplicate value: Pod default/a-node is already defined in this text',
    'documents[3].metadata.name: Duplicate value: ConfigMap default/c is already defined in this text',
  ]);
});

test('an immutable object is not changed while it exists', async () => {
  const sealed = (value: string) => configText('c', `k: ${value}`, ', immutable: true');
  const valueIn = ({ documents: all }: ParsedText) => all.get('ConfigMap/default/c')?.object?.data.get('k');
  const changed = await stateAfter(sealed('a'), documents(podText('p'), sealed('b')));
  expect(valueIn(changed)).toBe('a');
  expect(messagesOf(changed)).toEqual([
    'documents[1].data: Forbidden: field is immutable when `immutable` is set (ConfigMap default/c)',
  ]);
  expect(valueIn(await stateAfter(sealed('a'), configText('c', 'k: a')))).toBe('a');
  expect(messagesOf(await stateAfter(sealed('a'), configText('c', 'k: a')))).toHaveLength(1);
  expect(valueIn(await stateAfter(sealed('a'), podText('p'), sealed('b')))).toBe('b');
});

test('an unchanged object is reused by identity', async () => {
  const first = await stateAfter(documents(configText('c', 'k: v'), secretText('s', 'k: v')));
  const again = await updateText(
    first,
    readDocuments(documents(secretText('s', 'k: v'), configText('c', 'k: w'))),
    async () => {},
  );
  expect(again.documents.get('Secret/default/s')?.object).toBe(first.documents.get('Secret/default/s')?.object);
  expect(again.documents.get('ConfigMap/default/c')?.object?.data.get('k')).toBe('w');
});

test('a waiting pod is dropped once its document is invalid', async () => {
  const waiting = await updateText(EMPTY_PARSED_TEXT, readDocuments(podText('a', ofConfig('c'))), async () => {});
  expect(waiting.documents.get('Pod/default/a-node')).toMatchObject({
    pendingPod: { requiredObjects: [{ kind: 'ConfigMap', name: 'c' }] },
  });
  const wrong = await updateText(waiting, readDocuments(broken), async () => {});
  expect(wrong.documents.size).toBe(0);
});

test('of hundreds of errors only a few are listed', async () => {
  const all = Array.from({ length: 150 }, (_, index) => podText(`p${index}`, 'restartPolicy: No, '));
  expect(messagesOf(await stateAfter(documents(...all)))).toEqual([expect.stringMatching(/ and 14\d more errors$/)]);
});
