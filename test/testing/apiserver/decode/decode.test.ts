import { describe, expect, test } from '@jest/globals';
import { decode } from '../../../../testing/apiserver/decode/decode.ts';
import type { Json } from '../../../../testing/apiserver/json.ts';
import { readTypes } from '../../../../testing/apiserver/schema/types.ts';

const types = readTypes();
function typeOf(kind: string) {
  const type = types.kind('', 'v1', kind);
  if (type === undefined) throw new Error(`there is no ${kind}`);
  return type;
}
const decodeAs = (kind: string, value: Json) => decode(value, typeOf(kind)).object;

describe('decoding adds the zero values that Go serializes', () => {
  test('of an empty Node, as recorded', () => {
    expect(decodeAs('Node', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: {}, uid: '' } })).toEqual({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      spec: {},
      status: {
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: {
          machineID: '',
          systemUUID: '',
          bootID: '',
          kernelVersion: '',
          osImage: '',
          containerRuntimeVersion: '',
          kubeletVersion: '',
          kubeProxyVersion: '',
          operatingSystem: '',
          architecture: '',
        },
      },
    });
  });

  test('of a Pod: empty structs and set pointers, but no null values', () => {
    const container = { name: 'c', image: 'i', command: [], tty: false, livenessProbe: null };
    const spec = { containers: [container], automountServiceAccountToken: false, nodeName: '' };
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    expect(decodeAs('Pod', { spec, status })).toEqual({
      metadata: {},
      spec: { containers: [{ name: 'c', image: 'i', resources: {} }], automountServiceAccountToken: false },
      status: { conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }] },
    });
  });
});

test('an empty list is stored as null where Go writes it', () => {
  expect(decodeAs('Pod', { spec: { containers: [] } })).toMatchObject({ spec: { containers: null } });
  const extra = { a: [] };
  const request = types.named('io.k8s.api.certificates.v1.CertificateSigningRequestSpec');
  expect(decode({ extra, usages: [] }, request).object).toMatchObject({ extra: { a: null } });
});

test('unknown fields are reported in order and dropped', () => {
  const given = {
    metadata: { name: 'a', strange: true },
    spec: { containers: [{ name: 'c', comand: ['x'] }], hostnetwork: true, nodeSelector: { comand: 'x' } },
    constructor: 1,
  };
  const { object, unknown } = decode(given, typeOf('Pod'));
  expect(unknown).toEqual(['metadata.strange', 'spec.containers[0].comand', 'spec.hostnetwork', 'constructor']);
  expect(object).toMatchObject({ metadata: { name: 'a' }, spec: { nodeSelector: { comand: 'x' } } });
  expect(Object.hasOwn(object, 'constructor')).toBe(false);
});

const HOST_PORT: Json = { spec: { containers: [{ ports: [{ hostPort: 2 ** 31 }] }] } };
const TARGET_PORT: Json = { spec: { ports: [{ targetPort: true }] } };

test.each<[string, string, Json]>([
  ['string into Go struct field PodSpec.spec.containers of type []v1.Container', 'Pod', { spec: { containers: 'x' } }],
  [
    'number into Go struct field Container.spec.containers.name of type string',
    'Pod',
    { spec: { containers: [{ name: 'a' }, { name: 7 }] } },
  ],
  [
    'number 1.5 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64',
    'Pod',
    { spec: { activeDeadlineSeconds: 1.5 } },
  ],
  ['bool into Go struct field ObjectMeta.metadata.labels of type string', 'Pod', { metadata: { labels: { a: true } } }],
  ['string into Go struct field PodSpec.spec.containers of type v1.Container', 'Pod', { spec: { containers: ['x'] } }],
  [
    'number 2147483648 into Go struct field ContainerPort.spec.containers.ports.hostPort of type int32',
    'Pod',
    HOST_PORT,
  ],
  ['bool into Go struct field ServicePort.spec.ports.targetPort of type int32', 'Service', TARGET_PORT],
  ['array into Go value of type v1.Pod', 'Pod', []],
  ['null into Go value of type v1.Node', 'Node', null],
])('a value of the wrong type is rejected: cannot unmarshal %s', (message, kind, value) => {
  expect(() => decodeAs(kind, value)).toThrow(`json: cannot unmarshal ${message}`);
});

test('the first mismatch is reported, unless the type of a value has a decoder of its own', () => {
  const mistyped = {
    metadata: { labels: { a: 1 } },
    spec: { hostNetwork: 'x', overhead: { cpu: 'lots', memory: 'more' } },
  };
  expect(() => decodeAs('Pod', { ...mistyped, spec: { hostNetwork: 'x' } })).toThrow('ObjectMeta.metadata.labels');
  expect(() => decodeAs('Pod', mistyped)).toThrow('quantities must match');
});
