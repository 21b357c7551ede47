/** The part of the configuration that says which pods a node takes beside what it has room for. */
import type { Taint } from '../../pod/admission/node.ts';
import type { Flags } from './flags.ts';
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
    taints: Object.freeze([...(flags['--register-with-taints'] ?? file?.registerWithTaints ?? [])]),
    unsafeSysctls: Object.freeze([...(flags['--allowed-unsafe-sysctls'] ?? file?.allowedUnsafeSysctls ?? [])]),
  });
}
