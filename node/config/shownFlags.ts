/** Reports the command line and the flags to clients of the node's API, without values that may be secret. */
import { join } from 'node:path';
import type { Taint } from '../../kubernetes/admission/node.ts';
import type { NodeConfig } from './nodeConfig.ts';
import { flagSettings, secretNames } from './settings/allSettings.ts';
import { defaultValue, isStandalone } from './settings/settingValues.ts';

const MASKED_VALUE = '<masked>';

/** Replaces flag values that may be secret with `<masked>`. */
export function maskedCommandLine(words: readonly string[]): string[] {
  const secrets = secretNames();
  return words.map((word, at) => {
    const [name = '', value] = word.split('=', 2);
    if (secrets.includes(words[at - 1] ?? '')) return MASKED_VALUE;
    return value !== undefined && secrets.includes(name) ? `${name}=${MASKED_VALUE}` : word;
  });
}

type DisplayedConfig = Pick<
  NodeConfig,
  'userInput' | 'rootDirectory' | 'podLogsDirectory' | 'devicePluginDirectory' | 'containerRuntimeEndpoint'
>;

/**
 * Returns the value or default of every flag, keyed by its name without dashes. As on a kubelet, the configuration file
 * is ignored (`GetFlagz` in `pkg/server/flagz/flagreader.go` of apiserver). Lists and maps are formatted as in Go's
 * flag package.
 */
export function displayedFlags(config: DisplayedConfig): ReadonlyMap<string, string> {
  const explicitFlags = new Map<string, unknown>(Object.entries(config.userInput.flags));
  const computedByFlag = computedDefaults(config);
  const isStandaloneNode = isStandalone(config.userInput.flags);
  return new Map(
    flagSettings().map(({ name, setting }) => {
      const value = explicitFlags.get(name);
      const displayedValue = value ?? computedByFlag.get(name) ?? defaultValue(setting, isStandaloneNode) ?? '';
      return [
        name.slice(2),
        setting.isSecret && value !== undefined ? MASKED_VALUE : formatFlagValue(name, displayedValue),
      ];
    }),
  );
}

/** Returns the defaults that depend on the command or on other settings. */
const computedDefaults = (config: DisplayedConfig): ReadonlyMap<string, string> =>
  new Map([
    ['--container-runtime-endpoint', config.containerRuntimeEndpoint],
    ['--root-dir', config.rootDirectory],
    ['--pod-log-dir', config.podLogsDirectory],
    ['--device-plugin-dir', config.devicePluginDirectory],
    ['--cert-dir', join(config.rootDirectory, 'pki')],
  ]);

function formatFlagValue(flag: string, value: unknown): string {
  if (Array.isArray(value)) {
    const joinedItems = value.map((item) => (typeof item === 'string' ? item : formatTaint(item))).join(',');
    return flag === '--allowed-unsafe-sysctls' ? `[${joinedItems}]` : joinedItems;
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([key, each]) => `${key}=${each}`)
      .toSorted()
      .join(',');
  return String(value);
}

const formatTaint = ({ key, value = '', effect }: Taint): string => `${key}=${value}:${effect}`;
