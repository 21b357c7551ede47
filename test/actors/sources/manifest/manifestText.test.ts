import { describe, expect, test } from '@jest/globals';
import { configText, documents, podText, readAnswer, readDocuments, secretText } from '../../../fakes/manifests.ts';

const found = (text: string) => readDocuments(text).map(({ path, key }) => [path, key]);
const problems = (text: string, manifest = readDocuments) =>
  manifest(text).flatMap(({ path, manifest }) =>
    'problems' in manifest ? manifest.problems.map((each) => [path, each.path, each.message]) : [],
  );

describe('a manifest text', () => {
  test('may contain several documents, and empty ones are ignored', () => {
    const text = documents('# nothing\n', podText('a'), '\n', configText('c', 'k: v'), secretText('s', 'k: v'));
    expect(found(text)).toEqual([
      ['documents[0]', 'Pod/default/a-node'],
      ['documents[1]', 'ConfigMap/default/c'],
      ['documents[2]', 'Secret/default/s'],
    ]);
    expect(problems(text)).toEqual([]);
  });

  test('may contain lists, even nested, whose items need no kind', () => {
    const items = (kind: string, ...inner: string[]) =>
      `{apiVersion: v1, kind: ${kind}, items: [${inner.join(', ')}]}\n`;
    const nameless = (text: string) => text.replace(/apiVersion: v1, kind: \w+, /, '').trim();
    const text = documents(
      items('List', nameless(podText('a')), configText('c', '').trim()),
      items('PodList', nameless(podText('b'))),
      items('List', items('SecretList', nameless(secretText('s', ''))).trim()),
      items('ConfigMapList'),
    );
    expect(found(text)).toEqual([
      ['documents[0].items[0]', 'Pod/default/a-node'],
      ['documents[0].items[1]', 'ConfigMap/default/c'],
      ['documents[1].items[0]', 'Pod/default/b-node'],
      ['documents[2].items[0].items[0]', 'Secret/default/s'],
    ]);
    expect(problems(text)).toEqual([]);
  });

  test('may be a JSON list, nested up to a limit', () => {
    const deep = (levels: number) => `${'{"kind":"List","items":['.repeat(levels)}{}${']}'.repeat(levels)}`;
    expect(problems(deep(80))).toEqual([['', '', 'is nested deeper than 100 levels']]);
    expect(problems(deep(10))).toEqual([[expect.any(String), 'metadata.name', 'Required value']]);
  });
});

describe('a problem in one document', () => {
  test('that cannot be parsed leaves the other thirty-nine documents usable', () => {
    const forty = Array.from({ length: 40 }, (_, index) => (index === 17 ? 'a: [\n' : podText(`p${index}`)));
    const read = readDocuments(documents(...forty));
    expect(read.filter((each) => 'pod' in each.manifest)).toHaveLength(39);
    expect(read[17]).toEqual({
      path: 'documents[17]',
      manifest: { problems: [{ path: '', message: expect.stringContaining(' at line ') }] },
    });
  });

  test('of an unsupported kind is reported once', () => {
    const service = 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: 7}\n';
    expect(problems(documents(podText('a'), service))).toEqual([
      ['documents[1]', 'kind', expect.stringMatching(/^nothing is done here with a Service: /)],
    ]);
    expect(problems('{kind: DeploymentList, items: [{metadata: {}}]}')).toEqual([
      ['items[0]', 'kind', expect.stringMatching(/^nothing is done here with a Deployment: /)],
    ]);
    expect(problems('kind: Po')).toEqual([['', 'kind', 'expected Pod, got Po']]);
  });

  test('with an invalid Secret names the Secret without its content', () => {
    const text = documents(
      podText('a'),
      `{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {k: 'hunter2!'}}\n`,
    );
    expect(problems(text)).toEqual([
      [
        'documents[1]',
        'data.k',
        'Invalid value: illegal base64 data: plain text belongs in stringData (Secret default/s)',
      ],
    ]);
  });
});

test('a URL response may contain the same documents as a file', () => {
  expect(readAnswer(documents(podText('a'), configText('c', ''))).map(({ key }) => key)).toEqual([
    'Pod/default/a-node',
    'ConfigMap/default/c',
  ]);
  expect(problems('', (text) => readAnswer(text))).toEqual([['', '', 'the response is empty']]);
});
