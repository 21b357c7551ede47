import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ConfigError } from '../../../node/config/configError.ts';
import { parseConfigFile } from '../../../node/config/files/readFile.ts';
import { readFlags } from '../../../node/config/flags.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';

const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

/** Returns the errors in a configuration; none if it is accepted. */
function mistakesOf(text: string): string[] {
  try {
    parseConfigFile('/k', text);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error instanceof Error ? error.message.split('\n') : [];
  }
}

describe('a configuration that a kubelet rejects is rejected', () => {
  test.each<[object, string]>([
    [{ imageMaximumGCAge: '1m' }, 'imageMaximumGCAge: must be longer than imageMinimumGCAge (2m0s if it is not set)'],
    [{ imageMaximumGCAge: '5m', imageMinimumGCAge: '5m' }, 'imageMaximumGCAge: must be longer'],
    [{ enforceNodeAllocatable: ['none', 'pods'] }, 'enforceNodeAllocatable: must have nothing beside "none"'],
    [{ enforceNodeAllocatable: ['pods', 'pods'] }, 'enforceNodeAllocatable: must not name anything twice'],
    [{ enforceNodeAllocatable: ['system-reserved'] }, 'systemReservedCgroup: is required by "system-reserved"'],
    [{ enforceNodeAllocatable: ['kube-reserved-compressible'] }, 'kubeReservedCgroup: is required by "kube-reserved"'],
    [
      { enforceNodeAllocatable: ['kube-reserved', 'kube-reserved-compressible'], kubeReservedCgroup: '/k' },
      'enforceNodeAllocatable: must not have both "kube-reserved"',
    ],
    [{ reservedSystemCPUs: 'foo' }, 'reservedSystemCPUs: expected CPUs such as "0-3,8", got "foo"'],
    [{ reservedSystemCPUs: '3-1' }, 'reservedSystemCPUs: expected CPUs'],
    [{ reservedSystemCPUs: '0', kubeReservedCgroup: '/k' }, 'reservedSystemCPUs: cannot be used with'],
    [{ userNamespaces: { idsPerPod: 65_536 * 1_024 } }, 'maxPods: must not exceed the number of ID ranges'],
    [{ maxPods: 65_536 }, 'maxPods: must not exceed the number of ID ranges'],
    [{ podLogsDir: '/var/log/../pods' }, 'podLogsDir: expected a directory without ".."'],
    [{ podLogsDir: '/var/log/pöds' }, 'podLogsDir: expected a directory'],
    [{ registerWithTaints: [{ key: '', effect: 'NoExecute' }] }, 'registerWithTaints[0].key: expected the name'],
    [{ registerWithTaints: [{ key: 'a b', effect: 'NoExecute' }] }, 'registerWithTaints[0].key: expected the name'],
    [
      { registerWithTaints: [{ key: 'a', value: 'b c', effect: 'NoExecute' }] },
      'registerWithTaints[0].value: expected',
    ],
    [
      { logging: { options: { json: { infoBufferSize: 'abc' } } } },
      'logging.options.json.infoBufferSize: expected a quant',
    ],
    [{ logging: { options: { text: { infoBufferSize: '1Ki' } } } }, 'logging: splitStream and infoBufferSize need'],
    [{ logging: { flushFrequency: -1 } }, 'logging.flushFrequency: expected'],
    [{ logging: { vmodule: [{ filePattern: 'a=b', verbosity: 1 }] } }, 'logging.vmodule[0].filePattern: expected'],
    [{ logging: { format: 'json', vmodule: [{ filePattern: 'a', verbosity: 1 }] } }, 'logging: vmodule is for'],
    [
      { reservedMemory: [{ numaNode: 0, limits: { memory: '0' } }] },
      'reservedMemory[0].limits.memory: expected a quant',
    ],
    [{ reservedMemory: [{ numaNode: 0, limits: { cpu: '1' } }] }, 'reservedMemory[0].limits.cpu'],
    [
      {
        reservedMemory: [
          { numaNode: 0, limits: { memory: 1 } },
          { numaNode: 0, limits: { memory: 1 } },
        ],
      },
      'reservedMemory: must not name a resource of a NUMA node twice',
    ],
    [{ shutdownGracePeriod: '500ms' }, 'shutdownGracePeriod: must be 0 or at least 1s'],
    [
      { shutdownGracePeriod: '10s', shutdownGracePeriodCriticalPods: '500ms' },
      'shutdownGracePeriodCriticalPods: must be 0 or at least 1s',
    ],
    [
      { shutdownGracePeriod: '10s', shutdownGracePeriodCriticalPods: '11s' },
      'shutdownGracePeriodCriticalPods: must not be longer than shutdownGracePeriod',
    ],
    [
      { shutdownGracePeriodCriticalPods: '1s' },
      'shutdownGracePeriodCriticalPods: must not be longer than shutdownGracePeriod',
    ],
    [
      { shutdownGracePeriod: '5s', shutdownGracePeriodByPodPriority: [{ priority: 1, shutdownGracePeriodSeconds: 1 }] },
      'shutdownGracePeriodByPodPriority: must not be set together with shutdownGracePeriod',
    ],
    [{ tlsCipherSuites: ['TLS_NULL'] }, 'tlsCipherSuites[0]: expected a cipher suite'],
    [{ syncFrequency: '2562048h' }, 'syncFrequency: expected a duration'],
    [{ evictionSoft: { 'memory.available': '1Gi' } }, 'evictionSoftGracePeriod: must have each signal of evictionSoft'],
    [{ evictionSoftGracePeriod: { 'memory.available': '5x' } }, 'evictionSoftGracePeriod.memory.available: expected'],
    [{ evictionMinimumReclaim: { 'memory.available': '-1' } }, 'evictionMinimumReclaim.memory.available: expected'],
    [{ qosReserved: { memory: '150%' } }, 'qosReserved.memory: expected a percentage'],
    [{ tracing: { endpoint: 'http://host' } }, 'tracing.endpoint: expected the address of a collector'],
    [{ showHiddenMetricsForVersion: 'x' }, 'showHiddenMetricsForVersion: expected a version'],
    [{ preloadedImagesVerificationAllowlist: ['a'] }, 'preloadedImagesVerificationAllowlist: needs the policy'],
    [{ memoryReservationPolicy: 'TieredReservation' }, 'memoryReservationPolicy: "TieredReservation" needs'],
    [
      { enableSystemLogQuery: true, enableSystemLogHandler: false },
      'enableSystemLogQuery: needs enableSystemLogHandler',
    ],
  ])('%j', (fields, message) => {
    expect(mistakesOf(JSON.stringify({ ...head, ...fields }))).toEqual([expect.stringContaining(`/k: ${message}`)]);
  });
});

/** A valid configuration with fields of every kind. */
const whole = {
  ...head,
  maxPods: 5,
  podsPerCore: 0,
  oomScoreAdj: -999,
  syncFrequency: '1m',
  staticPodPath: 'pods',
  podLogsDir: '/logs',
  clusterDNS: ['10.0.0.10'],
  registerWithTaints: [{ key: 'a.b/c', value: 'd', effect: 'NoExecute' }],
  enforceNodeAllocatable: ['pods', 'kube-reserved'],
  kubeReservedCgroup: '/k',
  kubeReserved: { cpu: '1' },
  reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi', 'hugepages-2Mi': 4 } }],
  systemReserved: {},
  evictionHard: { 'memory.available': '5%' },
  evictionSoft: { 'pid.available': '10%' },
  evictionSoftGracePeriod: { 'pid.available': '1m' },
  evictionMinimumReclaim: { 'nodefs.available': '1Gi' },
  imageMinimumGCAge: '2m',
  imageMaximumGCAge: '3m',
  shutdownGracePeriod: '30s',
  shutdownGracePeriodCriticalPods: '10s',
  tlsMinVersion: 'VersionTLS12',
  tlsCipherSuites: ['TLS_AES_128_GCM_SHA256'],
  featureGates: { AllAlpha: true },
  qosReserved: { memory: '50%' },
  logging: { format: 'text', verbosity: 2, flushFrequency: '5s', options: { text: { infoBufferSize: '1Ki' } } },
  authentication: { webhook: { cacheTTL: '2m' } },
  userNamespaces: { idsPerPod: 65_536 },
  containerLogMaxSize: '1Mi',
  tracing: { endpoint: 'localhost:4317' },
  memorySwap: { swapBehavior: 'NoSwap' },
  memoryThrottlingFactor: 0.9,
  crashLoopBackOff: { maxContainerRestartPeriod: '10s' },
  reservedSystemCPUs: '',
  staticPodURLHeader: { a: ['b'] },
};

function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, each]) => placesIn(each, [...path, key]))
      : [];
  return [path, ...inner];
}

/** Returns a copy with a different value at a path. */
function withAt(value: unknown, [step, ...rest]: readonly string[], other: unknown): unknown {
  if (step === undefined) return other;
  const copy = Array.isArray(value) ? [...value] : { ...(typeof value === 'object' ? value : {}) };
  Object.defineProperty(copy, step, {
    value: withAt(Reflect.get(copy, step), rest, other),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return copy;
}

const defaults = { hostname: 'host', addresses: [], rootDirectory: '/r', podLogsDirectory: '/l' };

describe('any configuration is either accepted or its mistakes are reported', () => {
  test('with all fields set to valid values', () => {
    expect(mistakesOf(JSON.stringify(whole))).toEqual([]);
  });

  test('with any value in any field', () => {
    const odd = fc.constantFrom<unknown>('', ' ', '-1s', '1e999', '9999999h', '../x', '__proto__', '\u001b[31m', 'ä');
    const key = fc.constantFrom('__proto__', 'constructor', 'toString', 'memory', 'a b', '');
    const other = fc.oneof(
      odd,
      fc.jsonValue(),
      fc.double(),
      fc.dictionary(key, fc.jsonValue()),
      fc.constant(undefined),
    );
    const place = fc.constantFrom(...placesIn(whole));
    const change = fc.record({ place, other });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const value = changes.reduce<unknown>((before, { place: at, other: put }) => withAt(before, at, put), whole);
        const text = JSON.stringify(value) ?? '';
        const mistakes = mistakesOf(text);
        for (const mistake of mistakes) expect(mistake.length).toBeLessThan(600);
        // An accepted configuration can be compiled.
        if (mistakes.length === 0) compileConfig({ flags: readFlags({}), file: parseConfigFile('/k', text), defaults });
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['an alias without an anchor', 'a: *b', 'unknown anchor'],
    ['a cycle', 'a: &a [*a]', 'anchor a contains itself'],
    ['brackets', '['.repeat(100_000), 'nested deeper'],
    ['too many fields', Array.from({ length: 5_000 }, (_, i) => `f${i}: 1`).join('\n'), 'unknown field'],
    ['several documents', 'a: 1\n---\na: 2', 'got several documents'],
  ])('%s', (_what, text, message) => {
    const mistakes = mistakesOf(text);
    expect(mistakes.join('\n')).toContain(message);
    expect(mistakes.length).toBeLessThan(60);
  });
});
