import { allSettings } from './allSettings.ts';
import { isGroup, type Settings } from './setting.ts';

/** Kubelet flags without a configuration field, each with the reason why this node does not have it. */
const REASON_BY_FLAG: ReadonlyMap<string, string> = new Map([
  ['--config-dir', 'only a single configuration file is supported'],
  ['--lock-file', 'the root directory is locked'],
  ['--exit-on-lock-contention', 'the agent exits if another one has locked its root directory'],
  ['--runtime-cgroups', 'the node does not change the cgroup of the runtime'],
  ['--housekeeping-interval', 'cAdvisor is not used'],
  ['--max-housekeeping-interval', 'cAdvisor is not used'],
  [
    '--experimental-allocatable-ignore-eviction',
    'the thresholds of evictionHard are always subtracted from the allocatable resources',
  ],
  ['--experimental-mounter-path', "volumes are mounted with the host's own tools"],
]);

export interface UnsupportedFlag {
  readonly name: string;
  /** The path of the field to set instead of the flag, e.g. `authorization.webhook.cacheAuthorizedTTL`. */
  readonly field?: string;
  readonly why?: string;
}

/** Returns the kubelet flags that this node does not have. */
export const unsupportedFlags = (): readonly UnsupportedFlag[] => [
  ...collectUnsupported(allSettings(), ''),
  ...[...REASON_BY_FLAG].map(([name, why]) => ({ name, why })),
];

const collectUnsupported = (settings: Settings, path: string): readonly UnsupportedFlag[] =>
  Object.entries(settings).flatMap(([name, entry]): readonly UnsupportedFlag[] => {
    if (isGroup(entry)) return collectUnsupported(entry.fields, `${path}${name}.`);
    return entry.unsupportedFlag === undefined ? [] : [{ name: entry.unsupportedFlag, field: `${path}${name}` }];
  });
