/** Manifests, API responses and the test API server use the same reader, so that the results are equal. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withDefaults } from '../../../kubernetes/api/defaults/defaults.ts';
import { readManifest } from '../../../kubernetes/api/pods/manifest.ts';
import { readConfig } from '../../../kubernetes/objects/configObject.ts';
import { decode } from '../../../testing/apiserver/decode/decode.ts';
import { DecodeError } from '../../../testing/apiserver/decode/decodeError.ts';
import type { Json } from '../../../testing/apiserver/json.ts';
import { readTypes } from '../../../testing/apiserver/schema/types.ts';

const types = readTypes();

/** Values of all types, including those that Go treats as zero values. */
const odd = fc.constantFrom<Json>(null, '', 0, false, [], {}, 'text', 7, true, ['a'], { a: 'b' }, [null], { a: null });

const TEMPLATE = {
  metadata: { name: 'web', labels: { a: 'b' }, annotations: { c: 'd' } },
  spec: {
    nodeSelector: { disk: 'ssd' },
    terminationGracePeriodSeconds: 5,
    hostNetwork: false,
    volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }],
    tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 1 }],
    containers: [
      {
        name: 'main',
        image: 'a',
        args: ['x', 'y'],
        env: [{ name: 'A', value: 'b' }],
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        resources: { limits: { cpu: '1', memory: '1Gi' } },
        livenessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 3 },
        volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true }],
      },
    ],
  },
};

type Path = readonly (string | number)[];

/** The paths of all values except the names of the pod and its containers, which a manifest must have. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Object.entries(value).map(([key, each]) => [Array.isArray(value) ? Number(key) : key, each] as const);
  return [path, ...entries.flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

const PATHS = pathsOf(TEMPLATE).filter((path) => path.length > 1 && path.join('.') !== 'metadata.name');

function replaced(value: Json, [key, ...rest]: Path, by: Json): Json {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((each: Json, index) => (index === key ? replaced(each, rest, by) : each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, name === key ? replaced(each, rest, by) : each]),
  );
}

/** Reads the pod from a manifest. */
function asManifest(pod: Json): unknown {
  const read = readManifest(pod);
  return 'pod' in read ? withDefaults(read.pod) : 'rejected';
}

/** Returns the pod as the test API server stores it. */
function asServed(pod: Json): unknown {
  try {
    const { object } = decode(pod, types.named('io.k8s.api.core.v1.Pod'));
    return asManifest({ ...object, apiVersion: 'v1', kind: 'Pod' });
  } catch (error) {
    if (error instanceof DecodeError) return 'rejected';
    throw error;
  }
}

/** Removes empty values, which Go does not distinguish from missing ones unless their field is a pointer. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, withoutEmpty(each)] as const);
  return Object.fromEntries(entries.filter(([, each]) => !isEmpty(each)));
}

const isEmpty = (value: unknown): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

test('a manifest and an API object with one value replaced are read as the same pod, or both are rejected', () => {
  fc.assert(
    fc.property(fc.constantFrom(...PATHS), odd, (path, value) => {
      // A kubelet treats a volume of an unknown type as an empty directory, which a manifest here must not request.
      fc.pre(path.join('.') !== 'spec.volumes.0' || !(typeof value === 'object' && value !== null && 'a' in value));
      const pod = replaced({ apiVersion: 'v1', kind: 'Pod', ...TEMPLATE }, path, value);
      expect(withoutEmpty(asManifest(pod))).toEqual(withoutEmpty(asServed(pod)));
    }),
    { numRuns: 400 },
  );
});

test('nulls in the data of a ConfigMap become empty strings, and no key is lost', () => {
  const data = JSON.parse('{ "__proto__": "p", "none": null, "text": "t" }');
  const read = readConfig('ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data });
  expect(read).toMatchObject({
    config: {
      entries: [
        { field: 'data', key: '__proto__', value: 'p' },
        { field: 'data', key: 'none', value: '' },
        { field: 'data', key: 'text', value: 't' },
      ],
    },
    warnings: [],
  });
});
