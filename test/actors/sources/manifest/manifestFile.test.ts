import { describe, expect, test } from '@jest/globals';
import { readFileText } from '../../../fakes/manifests.ts';

const DEADLINE = {
  path: 'spec.activeDeadlineSeconds',
  message: 'Invalid value: 0: must be between 1 and 2147483647, inclusive',
};
const read = (text: string) => readFileText(text);
const pod = (spec: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - {name: c, image: i}\n${spec}`;

function problems(text: string) {
  const result = read(text);
  return 'problems' in result ? result.problems : [];
}

describe('a manifest text', () => {
  test('with a valid pod yields the static pod with its defaults', () => {
    expect(read(pod(''))).toMatchObject({
      pod: { metadata: { name: 'a-node', namespace: 'default' }, spec: { restartPolicy: 'Always', nodeName: 'node' } },
      warnings: [],
    });
  });

  test('C46: with scheduler fields yields a pod with a warning for each field', () => {
    expect(
      read(pod('  topologySpreadConstraints:\n  - {maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}')),
    ).toMatchObject({
      pod: { metadata: { name: 'a-node' } },
      warnings: [
        { path: 'spec.topologySpreadConstraints', message: expect.stringContaining('no effect on a static pod') },
      ],
    });
  });

  test.each(['80', '80.0', '8e1'])('an integer in JSON may be written as %s, but not with a fraction', (port) => {
    const withPort = (written: string) =>
      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[
        {"name":"c","image":"i","ports":[{"containerPort":${written}}]}]}}`;
    expect(read(withPort(port))).toHaveProperty('pod.spec.containers.0.ports.0.containerPort', 80);
    expect(problems(withPort('80.5'))).toEqual([
      { path: 'spec.containers[0].ports[0].containerPort', message: 'expected an integer, got a fraction' },
    ]);
  });

  test('may be JSON with tabs', () => {
    const text = JSON.stringify(
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'j' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      null,
      '\t',
    );
    expect(read(text)).toMatchObject({ pod: { metadata: { name: 'j-node' } } });
  });

  test('with a syntax error is reported with line and column', () => {
    expect(problems('apiVersion: v1\nkind: [Pod\nmetadata: x')).toEqual([
      { path: '', message: "the list of line 2 needs ',' or ']' at line 3, column 9" },
    ]);
  });

  test.each([
    ['an empty file', '', 'the file is empty'],
    ['a file of comments', '# nothing\n---\n', 'the file is empty'],
    ['a list', '[]', 'expected one Pod'],
    ['a text', 'hello', 'expected one Pod'],
    ['an alias without its anchor', 'a: *b', 'unknown anchor; quote the value if its * is text at line 1, column 4'],
  ])('is rejected if it is %s', (_what, text, message) => {
    expect(problems(text)).toEqual([{ path: '', message }]);
  });

  test('may have empty documents around its pod', () => {
    expect(problems(`---\n${pod('')}---\n`)).toEqual([]);
  });

  test('with a duplicate key is rejected', () => {
    expect(problems(pod('  hostname: a\n  hostname: b\n'))).toEqual([
      { path: '', message: 'key "hostname" is already set in this mapping at line 9, column 3' },
    ]);
  });

  test('is read like YAML in Kubernetes: octal modes, yes as true, times as strings', () => {
    const text = pod('  hostNetwork: yes\n  volumes: [{name: v, downwardAPI: {defaultMode: 0640}}]\n').replace(
      'name: a',
      'name: a\n  annotations: {day: 2024-01-02, span: "1:30"}',
    );
    expect(read(text)).toMatchObject({
      pod: {
        metadata: { annotations: { day: '2024-01-02', span: '1:30' } },
        spec: { hostNetwork: true, volumes: [{ downwardAPI: { defaultMode: 0o640 } }] },
      },
    });
  });

  test('that is valid by the schema but cannot run on a node is a problem', () => {
    expect(problems(pod('  activeDeadlineSeconds: 0\n'))).toEqual([DEADLINE]);
  });

  test('with an unknown field is reported with that field beside what cannot run', () => {
    expect(problems(pod('  restartpolicy: Never\n  activeDeadlineSeconds: 0\n'))).toEqual([
      DEADLINE,
      { path: 'spec.restartpolicy', message: 'unknown field, did you mean "restartPolicy"?' },
    ]);
  });
});
