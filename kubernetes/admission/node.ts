import { lookUp } from '../../base/values/lookUp.ts';
import type { PressureCondition } from '../eviction/signals.ts';

/** A taint of the node from the setting `registerWithTaints`. */
export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** Properties of the node, other than its capacity, that admission checks. */
export interface AdmissionNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Sysctls that pods may set, as names or as prefixes that end in `*`. */
  readonly sysctls: readonly string[];
  /** Whether the kernel enforces AppArmor profiles. */
  readonly appArmor: boolean;
  /** Whether the runtime supports `supplementalGroupsPolicy: Strict`. */
  readonly strictGroups: boolean;
  /** Pressure conditions that the node currently has. */
  readonly pressure: readonly PressureCondition[];
  /** Whether the host is about to shut down. */
  readonly isShuttingDown: boolean;
}

/** Returns the labels of this node: the standard labels and its custom labels. */
export function nodeLabels(
  { hostname, arch }: { hostname: string; arch: string },
  customLabels: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    'kubernetes.io/hostname': hostname,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': arch,
    ...customLabels,
  };
}

const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** Converts the Node.js name of an architecture to the Go name, which labels and images use. */
export const goArchitecture = (arch: string): string => lookUp(GO_ARCHITECTURES, arch) ?? arch;
