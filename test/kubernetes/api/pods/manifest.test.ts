import { describe, expect, test } from '@jest/globals';
import { readManifest } from '../../../../kubernetes/api/pods/manifest.ts';
import { parseBounded } from '../../../../kubernetes/yaml/boundedYaml.ts';

const good = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'main', image: 'busybox:1' }] },
};
const withContainer = (over: object) => ({
  ...good,
  spec: { containers: [{ name: 'main', image: 'busybox:1', ...over }] },
});

function problems(value: unknown) {
  const result = readManifest(value);
  return 'problems' in result ? result.problems : [];
}

describe('readManifest', () => {
  test('returns a pod as written', () => {
    expect(readManifest(good)).toEqual({ pod: good, warnings: [] });
  });

  test.each(['creationTimestamp', 'deletionTimestamp'])('requires metadata.%s to be a time in RFC 3339', (field) => {
    const at = (time: string) => problems({ ...good, metadata: { name: 'web', [field]: time } });
    for (const time of ['2024-02-29T01:02:03Z', '2024-01-02T03:04:05.678+02:00']) expect(at(time)).toEqual([]);
    for (const time of ['', 'now', '2024-02-30T01:02:03Z', '2024-01-02', '2024-01-02T03:04:05', '2024-01-02T25:00:00Z'])
      expect(at(time)).toEqual([
        { path: `metadata.${field}`, message: expect.stringContaining('must be a time such as') },
      ]);
  });

  test('trims white space around a quantity', () => {
    const written = withContainer({ resources: { limits: { memory: ' 1Gi ' } } });
    expect(readManifest(written)).toHaveProperty('pod.spec.containers.0.resources.limits.memory', '1Gi');
  });

  test('treats a null field as missing', () => {
    const value = { ...good, spec: { ...good.spec, hostname: null, volumes: [{ name: 'v', emptyDir: null }] } };
    expect(readManifest(value)).toEqual({
      pod: { ...good, spec: { ...good.spec, volumes: [{ name: 'v' }] } },
      warnings: [],
    });
  });

  test.each([
    ['1e400', 'the number is too large'],
    ['-1e400', 'the number is too small'],
    ['9223372036854775808', 'the number is too large: must be less than or equal to 9007199254740991'],
    ['-9223372036854775809', 'the number is too small: must be greater than or equal to -9007199254740991'],
  ])('reports the number %s without its approximation', (number, message) => {
    const spec: unknown = JSON.parse(`{"terminationGracePeriodSeconds": ${number}}`);
    expect(problems({ ...good, spec: Object.assign({}, good.spec, spec) })).toEqual([
      { path: 'spec.terminationGracePeriodSeconds', message: `Invalid value: ${message}` },
    ]);
  });

  test('rejects a number in place of a string, however large it is', () => {
    for (const build of [1, 12_345_678_901_234_567_890n].map(Number)) {
      expect(problems({ ...good, metadata: { ...good.metadata, labels: { build } } })).toEqual([
        { path: 'metadata.labels.build', message: 'expected string, got number' },
      ]);
    }
  });

  test('accepts a number as a quantity', () => {
    expect(readManifest(withContainer({ resources: { limits: { cpu: 0.5, memory: 1024 } } }))).toMatchObject({
      pod: { spec: { containers: [{ resources: { limits: { cpu: '0.5', memory: '1024' } } }] } },
    });
  });

  test('rejects the key __proto__ anywhere, which a schema would drop', () => {
    const labelled: unknown = JSON.parse(
      '{ "apiVersion": "v1", "kind": "Pod", "metadata": { "labels": { "__proto__": "a" } } }',
    );
    const problem = problems(labelled).find(({ path }) => path !== 'metadata.name');
    expect(problem?.path).toBe('metadata.labels');
    expect(problem?.message).toBe(
      'Invalid value: "__proto__": a name must start and end with an alphanumeric character',
    );
    const spec = { containers: [JSON.parse('{ "__proto__": 1 }')] };
    expect(problems({ metadata: { name: 'web' }, spec })[0]?.path).toBe('spec.containers[0]');
  });

  test.each(['constructor', 'toString', 'hasOwnProperty'])(
    'accepts %s as the name of a label, an annotation or a resource',
    (name) => {
      const metadata = { name: 'web', labels: { [name]: 'a' }, annotations: { [name]: 'b' } };
      const pod = { ...good, metadata, spec: { ...good.spec, nodeSelector: { [name]: 'c' } } };
      expect(readManifest(pod)).toEqual({ pod, warnings: [] });
      expect(readManifest({ ...good, [name]: 1 })).toMatchObject({ pod: good, warnings: [{ path: name }] });
    },
  );

  test('does not modify its input', () => {
    const value = structuredClone({ ...good, spec: { ...good.spec, wrong: 1 } });
    readManifest(value);
    expect(value.spec).toHaveProperty('wrong', 1);
  });

  test.each([
    ['a number for a text', { image: 7 }, 'spec.containers[0].image', 'expected string, got number'],
    ['an object for a list', { args: { a: 1 } }, 'spec.containers[0].args', 'expected array, got object'],
    ['a text for a flag', { tty: 'yes' }, 'spec.containers[0].tty', 'expected boolean, got string'],
    [
      'a fraction',
      { ports: [{ containerPort: 1.5 }] },
      'spec.containers[0].ports[0].containerPort',
      'expected an integer, got a fraction',
    ],
    [
      'no quantity',
      { resources: { limits: { cpu: 'lots' } } },
      'spec.containers[0].resources.limits.cpu',
      'Invalid value: "lots": must be a quantity such as "100m", "1.5" or "64Mi"',
    ],
    [
      'a key with dots',
      { resources: { limits: { 'example.com/gpu': true } } },
      'spec.containers[0].resources.limits[example.com/gpu]',
      'expected string or number, got boolean',
    ],
    [
      'neither a port nor its name',
      { readinessProbe: { tcpSocket: { port: [] } } },
      'spec.containers[0].readinessProbe.tcpSocket.port',
      'expected number or string, got array',
    ],
    [
      'a number that is too large',
      { ports: [{ containerPort: 2 ** 40 }] },
      'spec.containers[0].ports[0].containerPort',
      'Invalid value: 1099511627776: must be less than or equal to 2147483647',
    ],
  ])('reports %s with the path', (_what, over, path, message) => {
    expect(problems(withContainer(over))).toEqual([{ path, message }]);
  });

  test('reports all problems at once', () => {
    const value = { ...good, metadata: {}, spec: { hostname: 1, containers: [{ image: 1 }] } };
    expect(problems(value).map(({ path }) => path)).toEqual([
      'metadata.name',
      'spec.hostname',
      'spec.containers[0].image',
    ]);
  });

  test.each([
    ['a Deployment', { kind: 'Deployment' }, 'expected Pod, got Deployment'],
    ['a List', { kind: 'List', items: [] }, 'expected Pod, got List'],
    ['a PodList', { kind: 'PodList', items: [] }, 'expected Pod, got PodList'],
  ])('rejects %s by its kind', (_what, value, message) => {
    expect(problems(value)).toEqual([{ path: 'kind', message }]);
  });

  test('rejects another version, or a missing kind', () => {
    expect(problems({ ...good, apiVersion: 'v2' })).toEqual([
      { path: 'apiVersion', message: 'Unsupported value: "v2": supported values: "v1"' },
    ]);
    expect(problems({ apiVersion: 'v1', metadata: good.metadata, spec: good.spec })).toEqual([
      { path: 'kind', message: 'Required value' },
    ]);
  });
});

describe('an unknown field', () => {
  test.each([
    ['at the top', { ...good, sepc: 1 }, 'sepc', 'unknown field, did you mean "spec"?'],
    [
      'in the spec',
      { ...good, spec: { ...good.spec, restartpolicy: 'Never' } },
      'spec.restartpolicy',
      'unknown field, did you mean "restartPolicy"?',
    ],
    [
      'in a container',
      withContainer({ volumesMounts: [] }),
      'spec.containers[0].volumesMounts',
      'unknown field, did you mean "volumeMounts"?',
    ],
    [
      'in a nested object',
      withContainer({ livenessProbe: { httpGet: { port: 1, pth: '/' } } }),
      'spec.containers[0].livenessProbe.httpGet.pth',
      'unknown field, did you mean "path"?',
    ],
    [
      'like nothing that is known',
      { ...good, spec: { ...good.spec, flibbertigibbet: 1 } },
      'spec.flibbertigibbet',
      'unknown field',
    ],
  ])('is omitted with a warning: %s', (_where, value, path, message) => {
    const result = readManifest(value);
    expect(result).toMatchObject({ warnings: [{ path, message }] });
    const key = path.split('.').at(-1) ?? '';
    expect(JSON.stringify('pod' in result ? result.pod : key)).not.toContain(key);
  });

  test('is a problem if it was meant to select the type of a volume', () => {
    const withVolumes = (...volumes: object[]) => problems({ ...good, spec: { ...good.spec, volumes } });
    expect(withVolumes({ name: 'a', emptyDir: {} }, { name: 'b', hostpath: { path: '/srv' } })).toEqual([
      { path: 'spec.volumes[1].hostpath', message: 'unknown type of volume, did you mean "hostPath"?' },
    ]);
    expect(withVolumes({ name: 'a', projected: { sources: [{ downwardApi: {} }] } })).toEqual([
      { path: 'spec.volumes[0].projected.sources[0].downwardApi', message: expect.stringMatching(/^unknown type/) },
    ]);
    expect(withVolumes({ name: 'a' })).toEqual([]);
    expect(withVolumes({ name: 'a', emptyDir: {}, emptydir: {} })).toEqual([]);
  });

  test('is reported after other problems', () => {
    expect(problems(withContainer({ imge: 'x', tty: 1 }))).toEqual([
      { path: 'spec.containers[0].tty', message: 'expected boolean, got number' },
      { path: 'spec.containers[0].imge', message: 'unknown field, did you mean "image"?' },
    ]);
  });
});

describe('a value that YAML does not parse as a string', () => {
  const podOf = (spec: string) => {
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, image: b}]\n  ${spec}\n`;
    const parsed = parseBounded(text, { tokens: 1_000, values: 1_000, characters: 10_000 });
    return readManifest('values' in parsed ? parsed.values[0] : undefined);
  };

  test.each([
    [
      'nodeSelector: {a: 0o644}',
      'spec.nodeSelector.a',
      'expected string, got number (0o644 at line 6; write "0o644" if it is text)',
    ],
    [
      'nodeSelector: {a: yes}',
      'spec.nodeSelector.a',
      'expected string, got boolean (yes at line 6; write "yes" if it is text)',
    ],
    [
      'restartPolicy: no',
      'spec.restartPolicy',
      'expected string, got boolean (no at line 6; write "no" if it is text)',
    ],
    [
      'terminationGracePeriodSeconds: 9223372036854775808',
      'spec.terminationGracePeriodSeconds',
      'Invalid value: the number is too large: must be less than or equal to 9007199254740991',
    ],
  ])('%s is reported with its source text, its line and a suggestion to quote it', (spec, path, message) => {
    expect(podOf(spec)).toMatchObject({ problems: [{ path, message }] });
  });

  test('preserves all digits of a quantity beyond 2^53', () => {
    expect(podOf('overhead: {memory: 9007199254740993}')).toMatchObject({
      pod: { spec: { overhead: { memory: '9007199254740993' } } },
    });
  });
});
