import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { expect, test } from '@jest/globals';
import { decode } from '../../../../testing/apiserver/decode/decode.ts';
import { readProtobuf } from '../../../../testing/apiserver/decode/protobuf.ts';
import { textAt } from '../../../../testing/apiserver/json.ts';
import { bodyOf } from '../../../../testing/apiserver/requests/body.ts';
import { readTypes } from '../../../../testing/apiserver/schema/types.ts';
import recorded from './fromKubectl.json' with { type: 'json' };

const types = readTypes();

/** Decodes an object as the server does. */
function decodeProtobuf(bytes: Uint8Array, group: string) {
  const object = readProtobuf(bytes, types);
  const version = textAt(object, 'apiVersion').slice(group === '' ? 0 : group.length + 1);
  const type = types.kind(group, version, textAt(object, 'kind'));
  if (type === undefined) throw new Error('there is no such kind');
  return decode(object, type);
}

/** Returns the recorded request body of a kubectl 1.36 command. */
function recordedBody(command: string): Uint8Array {
  const recording = recorded.find((each) => each.command.startsWith(command));
  if (recording === undefined) throw new Error(`${command} is not recorded`);
  return Buffer.from(recording.body, 'base64');
}

test.each([
  [
    'create service nodeport',
    '',
    {
      metadata: { name: 'np', labels: { app: 'np' } },
      spec: {
        ports: [{ name: '80-8080', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30_080 }],
        selector: { app: 'np' },
        type: 'NodePort',
      },
      status: { loadBalancer: {} },
    },
  ],
  [
    'create pdb p',
    'policy',
    { metadata: { name: 'p' }, spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } } },
  ],
  ['create pdb q', 'policy', { spec: { maxUnavailable: 2 } }],
  ['create secret', '', { metadata: { name: 's' }, data: { a: 'Yg==' }, type: 'x/y' }],
  ['create serviceaccount', '', { metadata: { name: 'sa' } }],
  ['create token', 'authentication.k8s.io', { spec: { audiences: ['one', 'two'], expirationSeconds: 7_200 } }],
  [
    'debug node',
    '',
    {
      spec: {
        // In protobuf, the source of a volume is a nested message.
        volumes: [{ name: 'host-root', hostPath: { path: '/' } }],
        containers: [{ name: 'debugger', image: 'busybox', securityContext: { privileged: true } }],
        restartPolicy: 'Never',
        nodeName: 'n1',
        hostNetwork: true,
        tolerations: [{ operator: 'Exists' }],
      },
    },
  ],
  [
    'certificate approve',
    'certificates.k8s.io',
    {
      metadata: { name: 'r1', resourceVersion: '17', creationTimestamp: '2026-11-27T13:08:39Z' },
      spec: {
        groups: ['system:masters', 'system:authenticated'],
        // In protobuf, each value of this map is a message that wraps a list.
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=/)] },
        usages: ['client auth'],
        request: expect.stringMatching(/^LS0tLS1CRUdJTi[\w+/]+=*$/),
      },
      status: { conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: '2026-11-27T13:08:39Z' }] },
    },
  ],
])('the protobuf of kubectl %s is read like JSON', (command, group, expected) => {
  const { object, unknown } = decodeProtobuf(recordedBody(command), group);
  expect(object).toMatchObject(expected);
  expect(unknown).toEqual([]);
});

test('fields that kubectl did not set are absent', () => {
  const { object } = decodeProtobuf(recordedBody('create secret'), '');
  expect(Object.keys(object)).toEqual(['apiVersion', 'data', 'kind', 'metadata', 'type']);
});

test('DeleteOptions have version v1 without an API group', () => {
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 5 };
  expect(readProtobuf(recordedBody('drain'), types)).toEqual(options);
});

type Part = readonly [number, value: string | number | Uint8Array | readonly Part[]];

function written(parts: readonly Part[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, value] of parts) {
    if (typeof value === 'number') writer.uint32(number << 3).int64(value);
    else writer.uint32((number << 3) | 2).bytes(typeof value === 'string' ? Buffer.from(value) : bytesOf(value));
  }
  return writer.finish();
}

const bytesOf = (value: Uint8Array | readonly Part[]): Uint8Array =>
  value instanceof Uint8Array ? value : written(value);

const objectOf = (apiVersion: string, kind: string, raw: Part[1]): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    written([
      [
        1,
        [
          [1, apiVersion],
          [2, kind],
        ],
      ],
      [2, raw],
    ]),
  ]);

test('times have microseconds if their type has them, integers may be negative, and map keys are arbitrary', () => {
  const time: Part[1] = [
    [1, 1_700_000_000],
    [2, 123_456_789],
  ];
  const lease = objectOf('coordination.k8s.io/v1', 'Lease', [
    [
      1,
      [
        [1, 'l'],
        [8, time],
        [
          11,
          [
            [1, '__proto__'],
            [2, 'x'],
          ],
        ],
        [17, [[7, [[1, '{"f:spec":{}}']]]]],
      ],
    ],
    [
      2,
      [
        [2, -3],
        [4, time],
        [99, 'of a later version'],
      ],
    ],
  ]);
  const { object } = decodeProtobuf(lease, 'coordination.k8s.io');
  expect(object).toMatchObject({
    metadata: { creationTimestamp: '2023-11-14T22:13:20Z', managedFields: [{ fieldsV1: { 'f:spec': {} } }] },
    spec: { leaseDurationSeconds: -3, renewTime: '2023-11-14T22:13:20.123456Z' },
  });
  expect(JSON.stringify(object)).toContain('"labels":{"__proto__":"x"}');
});

test('an object of an unknown kind has only its kind and version', () => {
  expect(readProtobuf(objectOf('apps/v1', 'Deployment', [[1, 'x']]), types)).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
  });
});

const request = (body: Uint8Array) => ({
  method: 'POST',
  url: '/',
  body,
  headers: new Map([['content-type', 'application/vnd.kubernetes.protobuf']]),
});

test.each([
  [Buffer.from('{"a":1}'), /^the object provided is unrecognized .* expected prefix \[107 56 115 0\] \(\{"a":1\}\)$/],
  [objectOf('v1', 'Secret', [[1, 5]]), /wrong wireType = 0/],
  [objectOf('v1', 'Pod', [[2, [[5, 'x']]]]), /wrong wireType = 2/],
  [objectOf('v1', 'Pod', [[1, [[8, [[1, 1e15]]]]]]), /a time is out of range/],
  [objectOf('v1', 'Secret', Buffer.from([0x0a, 0x7f])), /\(must be of type Secret\): .* \(6b3873/],
])('a malformed body is rejected', (body, why) => {
  const readBody = () => bodyOf(request(body), { kind: 'Secret' }, types);
  expect(readBody).toThrow(why);
});

test('an empty body is read as empty text', () => {
  expect(bodyOf(request(Buffer.alloc(0)), { kind: 'Secret' }, types).text).toBe('');
});
