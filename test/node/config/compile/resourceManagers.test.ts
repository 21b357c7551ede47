import { expect, test } from '@jest/globals';
import { nodeResources } from '../../../../node/config/compile/nodeResources.ts';
import { compileResourceManagers } from '../../../../node/config/compile/resourceManagers.ts';
import { parseConfigFile } from '../../../../node/config/files/readFile.ts';
import { readFlags } from '../../../../node/config/flags.ts';
import { settingValues } from '../../../../node/config/settings/settingValues.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const read = (yaml: string) => parseConfigFile('k.yaml', head + yaml);
const valuesOf = (yaml: string) => settingValues({ flags: {}, file: read(yaml).config });
const compiled = (yaml: string) => compileResourceManagers(valuesOf(yaml));

test('by default, no container gets exclusive CPUs', () => {
  expect(compiled('')).toEqual({
    reservedCpus: [],
  });
});

test('the settings of the managers take effect', () => {
  const yaml = [
    'cpuManagerPolicy: static',
    'cpuManagerPolicyOptions: {full-pcpus-only: "true", strict-cpu-reservation: "1", distribute-cpus-across-numa: "false"}',
    'cpuManagerReconcilePeriod: 5s',
    'reservedSystemCPUs: 0-1,8',
    'topologyManagerPolicy: restricted',
    'topologyManagerScope: pod',
    'topologyManagerPolicyOptions: {prefer-closest-numa-nodes: "true", max-allowable-numa-nodes: "16"}',
  ].join('\n');
  expect(compiled(yaml)).toEqual({
    cpuPolicy: {
      options: { fullPcpusOnly: true, strictCpuReservation: true, distributeCpusAcrossNuma: false },
      reconcileMs: 5_000,
      liftsQuota: true,
    },
    reservedCpus: [0, 1, 8],
    topology: { policy: { name: 'restricted', isPerPod: true, prefersClosest: true }, maxNumaNodes: 16 },
  });
  expect(read(yaml).ignoredFields).toEqual([]);
});

test('the memory manager takes effect with the memory that is reserved on each NUMA node', () => {
  const yaml = [
    'memoryManagerPolicy: Static',
    'reservedMemory:',
    '- {numaNode: 0, limits: {memory: 1Gi, hugepages-2Mi: 64Mi}}',
    '- {numaNode: 1, limits: {memory: 512Mi}}',
  ].join('\n');
  const memoryReservations = [
    { numaNode: 0, resource: 'memory', bytes: 2 ** 30 },
    { numaNode: 0, resource: 'hugepages-2Mi', bytes: 2 ** 26 },
    { numaNode: 1, resource: 'memory', bytes: 2 ** 29 },
  ];
  expect(compiled(yaml)).toMatchObject({ memoryReservations });
  expect(read(yaml).ignoredFields).toEqual([]);
  const flags = {
    '--memory-manager-policy': 'Static',
    '--reserved-memory': '0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=512Mi',
  };
  expect(compileResourceManagers(settingValues({ flags: readFlags(flags), file: {} }))).toMatchObject({
    memoryReservations,
  });
  expect(compiled('reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]').memoryReservations).toBeUndefined();
});

test.each(['0', '0:', 'x:memory=1Gi', '0:memory', '0:memory=1Gi;', '0:cpu=1', '0:memory=lots', '0:memory=0'])(
  '%s is not a value of --reserved-memory',
  (text) => {
    expect(() => readFlags({ '--reserved-memory': text })).toThrow('--reserved-memory');
  },
);

test('CPUs that are reserved by number replace the reserved amounts of CPU', () => {
  const yaml = 'reservedSystemCPUs: 0-2\nkubeReserved: {cpu: 500m, memory: 1Gi}\nsystemReserved: {cpu: 100m}';
  expect(nodeResources(valuesOf(yaml)).reservedResources).toMatchObject({
    kubeReserved: { memory: '1Gi' },
    systemReserved: { cpu: '3' },
  });
});

test('gates enable options in alpha, disable those in beta, and restore the CPU quota', () => {
  const alpha = 'featureGates: {CPUManagerPolicyAlphaOptions: true, DisableCPUQuotaWithExclusiveCPUs: false}';
  const { cpuPolicy } = compiled(
    `cpuManagerPolicy: static\ncpuManagerPolicyOptions: {align-by-socket: "true"}\n${alpha}`,
  );
  expect(cpuPolicy).toMatchObject({ options: { alignBySocket: true }, liftsQuota: false });
});

const STATIC = 'cpuManagerPolicy: static\n';
const options = (...texts: readonly string[]) =>
  `${STATIC}cpuManagerPolicyOptions: {${texts.map((option) => `${option}: "true"`).join(', ')}}`;
const BEST_EFFORT = 'topologyManagerPolicy: best-effort\ntopologyManagerPolicyOptions: ';
const ALPHA = '\nfeatureGates: {CPUManagerPolicyAlphaOptions: true}';

test.each([
  [
    'cpuManagerPolicyOptions: {full-pcpus-only: "true"}',
    'None policy: received unsupported options=map[full-pcpus-only:true]',
  ],
  [options('foo'), 'unknown CPU Manager Policy option: "foo"'],
  [
    options('align-by-socket'),
    'CPU Manager Policy Alpha-level Options not enabled, but option "align-by-socket" provided',
  ],
  [
    `${options('distribute-cpus-across-numa')}\nfeatureGates: {CPUManagerPolicyBetaOptions: false}`,
    'CPU Manager Policy Beta-level Options not enabled, but option "distribute-cpus-across-numa" provided',
  ],
  [
    `${STATIC}cpuManagerPolicyOptions: {full-pcpus-only: "yes"}`,
    'bad value for option "full-pcpus-only": strconv.ParseBool: parsing "yes": invalid syntax',
  ],
  [
    options('full-pcpus-only', 'distribute-cpus-across-cores') + ALPHA,
    'static policy options full-pcpus-only and distribute-cpus-across-cores can not be used at the same time',
  ],
  [
    options('distribute-cpus-across-numa', 'distribute-cpus-across-cores') + ALPHA,
    'static policy options distribute-cpus-across-numa and distribute-cpus-across-cores can not be used at the same time',
  ],
  [
    options('prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores') + ALPHA,
    'static policy options prefer-align-cpus-by-uncorecache and distribute-cpus-across-cores can not be used',
  ],
  [
    options('prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'),
    'static policy options prefer-align-cpus-by-uncorecache and distribute-cpus-across-numa can not be used',
  ],
  [
    `${options('align-by-socket')}${ALPHA}\ntopologyManagerPolicy: single-numa-node`,
    'Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option',
  ],
  [`${BEST_EFFORT}{foo: "true"}`, 'unknown Topology Manager Policy option: "foo"'],
  [
    `${BEST_EFFORT}{prefer-closest-numa-nodes: "yes"}`,
    'bad value for option "prefer-closest-numa-nodes": strconv.ParseBool: parsing "yes": invalid syntax',
  ],
  [
    `${BEST_EFFORT}{max-allowable-numa-nodes: "many"}`,
    'unable to convert policy option to integer "max-allowable-numa-nodes": strconv.Atoi: parsing "many": invalid syntax',
  ],
  [
    `${BEST_EFFORT}{max-allowable-numa-nodes: "4"}`,
    'the minimum value of "max-allowable-numa-nodes" should not be less than 8',
  ],
])('the setting "%s" is rejected with the message of a kubelet', (yaml, message) => {
  expect(() => compiled(yaml)).toThrow(message);
});

test('without a topology policy, the options of the policy are ignored', () => {
  expect(compiled('topologyManagerPolicyOptions: {foo: "true"}')).toEqual({ reservedCpus: [] });
});
