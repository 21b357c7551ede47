import { lookUp } from '../../base/lookUp.ts';

/** A taint of the node, as `registerWithTaints` sets it. */
export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** What admission has to know of the node beside its capacity. */
export interface AdmissionNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** The sysctls that pods may set: names, and prefixes that end in `*`. */
  readonly sysctls: readonly string[];
  /** Whether the kernel enforces AppArmor profiles. */
  readonly appArmor: boolean;
  /** Whether the runtime can give a container the groups of its pod alone (`supplementalGroupsPolicy: Strict`). */
  readonly strictGroups: boolean;
}

/** The labels that every node has, and its own. */
export function nodeLabels(
  { hostname, arch }: { hostname: string; arch: string },
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    'kubernetes.io/hostname': hostname,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': arch,
    ...own,
  };
}

const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** The architecture's name in labels and images, from that which Node.js has for it. */
export const goArchitecture = (arch: string): string => lookUp(GO_ARCHITECTURES, arch) ?? arch;
