/** The part of the configuration that says which pods a node takes beside what it has room for. */
import type { Taint } from '../../kubernetes/admission/node.ts';
import { UNINITIALIZED_TAINT } from '../../kubernetes/node/cloud.ts';
import { type Flags, isExternal } from './flags.ts';
import type { ConfigFile } from './readFile.ts';

export interface NodeAdmission {
  /** Beside those that every node has. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Sysctls that pods may set beside the safe ones: names, and prefixes that end in `*`. */
  readonly unsafeSysctls: readonly string[];
}

/** Reads it from flags and file: a flag wins. */
export function nodeAdmission(flags: Flags, file: ConfigFile['config'] | undefined): NodeAdmission {
  return Object.freeze({
    labels: Object.freeze({ ...flags['--node-labels'] }),
    taints: Object.freeze(taintsOf(flags, file)),
    unsafeSysctls: Object.freeze([...(flags['--allowed-unsafe-sysctls'] ?? file?.allowedUnsafeSysctls ?? [])]),
  });
}

/** A node of a cloud begins with one more: its controller takes that back. */
function taintsOf(flags: Flags, file: ConfigFile['config'] | undefined): readonly Taint[] {
  const told = flags['--register-with-taints'] ?? file?.registerWithTaints ?? [];
  const isOfCloud = Boolean(flags['--kubeconfig']) && isExternal(flags['--cloud-provider']);
  const hasIt = told.some(
    ({ key, effect }) => key === UNINITIALIZED_TAINT.key && effect === UNINITIALIZED_TAINT.effect,
  );
  return isOfCloud && !hasIt ? [...told, UNINITIALIZED_TAINT] : told;
}
