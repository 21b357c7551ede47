/** The settings for the admission of pods, apart from resources. */
import type { Taint } from '../../kubernetes/admission/node.ts';
import { UNINITIALIZED_TAINT } from '../../kubernetes/node/cloud.ts';
import { type Flags, isExternal } from './flags.ts';
import type { ConfigFile } from './readFile.ts';

export interface NodeAdmission {
  /** Labels in addition to those that every node has. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Unsafe sysctls that pods may set, as names or as prefixes that end in `*`. */
  readonly unsafeSysctls: readonly string[];
}

/** Compiles the settings. A flag takes precedence over the file. */
export function nodeAdmission(flags: Flags, file: ConfigFile['config'] | undefined): NodeAdmission {
  return Object.freeze({
    labels: Object.freeze({ ...flags['--node-labels'] }),
    taints: Object.freeze(taintsOf(flags, file)),
    unsafeSysctls: Object.freeze([...(flags['--allowed-unsafe-sysctls'] ?? file?.allowedUnsafeSysctls ?? [])]),
  });
}

/** Adds the taint of a new node with an external cloud provider, which the cloud controller removes. */
function taintsOf(flags: Flags, file: ConfigFile['config'] | undefined): readonly Taint[] {
  const told = flags['--register-with-taints'] ?? file?.registerWithTaints ?? [];
  const isOfCloud = Boolean(flags['--kubeconfig']) && isExternal(flags['--cloud-provider']);
  const hasIt = told.some(
    ({ key, effect }) => key === UNINITIALIZED_TAINT.key && effect === UNINITIALIZED_TAINT.effect,
  );
  return isOfCloud && !hasIt ? [...told, UNINITIALIZED_TAINT] : told;
}
