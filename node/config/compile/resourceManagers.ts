/**
 * Compiles the settings of the CPU, memory and topology managers, with the kubelet's messages (`policy_options.go` in
 * `pkg/kubelet/cm/cpumanager` and `pkg/kubelet/cm/topologymanager`).
 */

import { NANOS_PER_UNIT } from '../../../kubernetes/api/values/quantity.ts';
import type { CpuPolicyOptions } from '../../../kubernetes/cpus/cpuPolicy.ts';
import { type CpuSet, parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import type { TopologyPolicy } from '../../../kubernetes/cpus/topologyHints.ts';
import type { MemoryReservation } from '../../../kubernetes/numaMemory/memoryAssignments.ts';
import { ConfigError } from '../configError.ts';
import { allowsAlphaCpuOptions, allowsBetaCpuOptions, liftsQuotaOfExclusiveCpus } from '../featureGates.ts';
import type { SettingValues } from '../settings/settingValues.ts';

export interface ResourceManagerSettings {
  /** Settings of the static CPU manager policy. Undefined under the policy `none`, which assigns no exclusive CPUs. */
  readonly cpuPolicy?: {
    readonly options: CpuPolicyOptions;
    /** Interval at which the CPUs of running containers are checked, in milliseconds. */
    readonly reconcileMs: number;
    /** Whether containers with exclusive CPUs have no CPU quota. */
    readonly liftsQuota: boolean;
  };
  /** CPUs listed in `reservedSystemCPUs`. Empty if no individual CPUs are reserved. */
  readonly reservedCpus: CpuSet;
  /** Settings of the topology manager. Undefined if its policy is `none`. */
  readonly topology?: {
    readonly policy: TopologyPolicy;
    /** Maximum number of NUMA nodes on a host that uses the policy. */
    readonly maxNumaNodes: number;
  };
  /** The memory that is reserved on each NUMA node. Undefined unless the memory manager has the Static policy. */
  readonly memoryReservations?: readonly MemoryReservation[];
}

type OptionStage = 'alpha' | 'beta' | 'stable';

const CPU_OPTIONS: ReadonlyMap<string, { readonly stage: OptionStage; readonly name: keyof CpuPolicyOptions }> =
  new Map([
    ['full-pcpus-only', { stage: 'stable', name: 'fullPcpusOnly' }],
    ['strict-cpu-reservation', { stage: 'stable', name: 'strictCpuReservation' }],
    ['prefer-align-cpus-by-uncorecache', { stage: 'stable', name: 'preferAlignCpusByUncoreCache' }],
    ['distribute-cpus-across-numa', { stage: 'beta', name: 'distributeCpusAcrossNuma' }],
    ['align-by-socket', { stage: 'alpha', name: 'alignBySocket' }],
    ['distribute-cpus-across-cores', { stage: 'alpha', name: 'distributeCpusAcrossCores' }],
  ]);

/** Pairs of CPU manager options that cannot be combined. */
const EXCLUSIVE_OPTIONS = [
  ['full-pcpus-only', 'distribute-cpus-across-cores'],
  ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
] as const;

/**
 * Default of `maxNumaNodes`, as in the kubelet. It is low because the kubelet evaluates every combination of NUMA
 * nodes.
 */
const DEFAULT_MAX_NUMA_NODES = 8;

/**
 * Compiles the settings of the managers. Throws a `ConfigError` for an option that is unknown, disabled or invalid.
 */
export function compileResourceManagers(values: SettingValues): ResourceManagerSettings {
  const { cpuManagerPolicy, cpuManagerPolicyOptions = {}, cpuManagerReconcilePeriod: reconcileMs } = values;
  const memoryReservations = compileReservations(values);
  const topology = compileTopology(values);
  const optionNames = Object.keys(cpuManagerPolicyOptions);
  if (cpuManagerPolicy !== 'static' && optionNames.length > 0) {
    throw new ConfigError(
      `cpuManagerPolicyOptions: None policy: received unsupported options=${formatGoMap(cpuManagerPolicyOptions)}`,
    );
  }
  const options = compileCpuOptions(cpuManagerPolicyOptions, values);
  if (options.alignBySocket && topology?.policy.name === 'single-numa-node') {
    throw new ConfigError(
      'cpuManagerPolicyOptions: Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option',
    );
  }
  return Object.freeze({
    ...(cpuManagerPolicy === 'static'
      ? {
          cpuPolicy: {
            options,
            reconcileMs,
            liftsQuota: liftsQuotaOfExclusiveCpus(values),
          },
        }
      : {}),
    reservedCpus: parseCpuSet(values.reservedSystemCPUs ?? ''),
    ...(topology === undefined ? {} : { topology }),
    ...(values.memoryManagerPolicy === 'Static' ? { memoryReservations } : {}),
  });
}

function compileReservations({ reservedMemory = [] }: SettingValues): readonly MemoryReservation[] {
  return reservedMemory.flatMap(({ numaNode, limits }) =>
    Object.entries(limits).map(([resource, nanos]) => ({ numaNode, resource, bytes: Number(nanos / NANOS_PER_UNIT) })),
  );
}

function compileCpuOptions(texts: Readonly<Record<string, string>>, values: SettingValues): CpuPolicyOptions {
  const options = Object.entries(texts).map(([option, text]) => {
    const cpuOption = CPU_OPTIONS.get(option);
    if (cpuOption === undefined) {
      throw new ConfigError(`cpuManagerPolicyOptions: unknown CPU Manager Policy option: ${JSON.stringify(option)}`);
    }
    requireStage(option, cpuOption.stage, values);
    return [cpuOption.name, parseGoBoolean('cpuManagerPolicyOptions', option, text)] as const;
  });
  const compiled: CpuPolicyOptions = Object.fromEntries(options);
  const isSet = (option: string) => {
    const name = CPU_OPTIONS.get(option)?.name;
    return name !== undefined && compiled[name] === true;
  };
  for (const [first, second] of EXCLUSIVE_OPTIONS) {
    if (!isSet(first) || !isSet(second)) continue;
    throw new ConfigError(
      `cpuManagerPolicyOptions: static policy options ${first} and ${second} can not be used at the same time`,
    );
  }
  return compiled;
}

function requireStage(option: string, stage: OptionStage, values: SettingValues): void {
  const reject = (level: string) => {
    throw new ConfigError(
      `cpuManagerPolicyOptions: CPU Manager Policy ${level}-level Options not enabled, but option ${JSON.stringify(option)} provided`,
    );
  };
  if (stage === 'alpha' && !allowsAlphaCpuOptions(values)) reject('Alpha');
  if (stage === 'beta' && !allowsBetaCpuOptions(values)) reject('Beta');
}

/** Compiles the topology policy. Like the kubelet, ignores its options if the policy is `none`. */
function compileTopology(values: SettingValues): ResourceManagerSettings['topology'] {
  const { topologyManagerPolicy: name, topologyManagerScope, topologyManagerPolicyOptions = {} } = values;
  if (name === 'none') return undefined;
  const { prefersClosest, maxNumaNodes } = compileTopologyOptions(topologyManagerPolicyOptions);
  return { policy: { name, isPerPod: topologyManagerScope === 'pod', prefersClosest }, maxNumaNodes };
}

function compileTopologyOptions(texts: Readonly<Record<string, string>>) {
  let [prefersClosest, maxNumaNodes] = [false, DEFAULT_MAX_NUMA_NODES];
  for (const [option, text] of Object.entries(texts)) {
    if (option === 'prefer-closest-numa-nodes')
      prefersClosest = parseGoBoolean('topologyManagerPolicyOptions', option, text);
    else if (option === 'max-allowable-numa-nodes') maxNumaNodes = parseMaxNumaNodes(option, text);
    else {
      throw new ConfigError(
        `topologyManagerPolicyOptions: unknown Topology Manager Policy option: ${JSON.stringify(option)}`,
      );
    }
  }
  return { prefersClosest, maxNumaNodes };
}

function parseMaxNumaNodes(option: string, text: string): number {
  const name = JSON.stringify(option);
  if (!/^[+-]?\d+$/.test(text)) {
    throw new ConfigError(
      `topologyManagerPolicyOptions: unable to convert policy option to integer ${name}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  if (Number(text) < DEFAULT_MAX_NUMA_NODES) {
    throw new ConfigError(
      `topologyManagerPolicyOptions: the minimum value of ${name} should not be less than ${DEFAULT_MAX_NUMA_NODES}`,
    );
  }
  return Number(text);
}

/** Parses a Boolean as Go does (`strconv.ParseBool`). */
function parseGoBoolean(field: string, option: string, text: string): boolean {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  throw new ConfigError(
    `${field}: bad value for option ${JSON.stringify(option)}: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

const formatGoMap = (texts: Readonly<Record<string, string>>): string =>
  `map[${Object.entries(texts)
    .sort(([first], [second]) => (first < second ? -1 : 1))
    .map(([name, text]) => `${name}:${text}`)
    .join(' ')}]`;
