/** Reports the command line and the flags to clients of the node's API, without values that may be secret. */
import { join } from 'node:path';
import type { Taint } from '../../kubernetes/admission/node.ts';
import type { NodeConfig } from './nodeConfig.ts';
import { flagSettings, secretNames } from './settings/allSettings.ts';
import { defaultValue, isStandalone } from './settings/settingValues.ts';

const MASKED = '<masked>';

/** Masks the secrets in a command line. */
export function ownCommand(words: readonly string[]): string[] {
  const secrets = secretNames();
  return words.map((word, at) => {
    const [name = '', value] = word.split('=', 2);
    if (secrets.includes(words[at - 1] ?? '')) return MASKED;
    return value !== undefined && secrets.includes(name) ? `${name}=${MASKED}` : word;
  });
}

type ShownConfig = Pick<NodeConfig, 'given' | 'rootDirectory' | 'podLogsDirectory' | 'containerRuntimeEndpoint'>;

/**
 * Returns the value of every flag, or its default, by the flag's name without dashes. As on a kubelet, the
 * configuration file has no influence (`GetFlagz` in `pkg/server/flagz/flagreader.go` of apiserver). Lists and maps are
 * formatted like Go's flag package.
 */
export function shownFlags(config: ShownConfig): ReadonlyMap<string, string> {
  const given = new Map<string, unknown>(Object.entries(config.given.flags));
  const computed = computedDefaults(config);
  const standalone = isStandalone(config.given.flags);
  return new Map(
    flagSettings().map(({ name, setting }) => {
      const value = given.get(name);
      const shown = value ?? computed.get(name) ?? defaultValue(setting, standalone) ?? '';
      return [name.slice(2), setting.isSecret && value !== undefined ? MASKED : textOf(name, shown)];
    }),
  );
}

/** Returns the defaults that depend on the command or on other settings. */
const computedDefaults = (config: ShownConfig): ReadonlyMap<string, string> =>
  new Map([
    ['--container-runtime-endpoint', config.containerRuntimeEndpoint],
    ['--root-dir', config.rootDirectory],
    ['--pod-log-dir', config.podLogsDirectory],
    ['--cert-dir', join(config.rootDirectory, 'pki')],
  ]);

function textOf(flag: string, value: unknown): string {
  if (Array.isArray(value)) {
    const text = value.map((item) => (typeof item === 'string' ? item : taintText(item))).join(',');
    return flag === '--allowed-unsafe-sysctls' ? `[${text}]` : text;
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([key, each]) => `${key}=${each}`)
      .toSorted()
      .join(',');
  return String(value);
}

const taintText = ({ key, value = '', effect }: Taint): string => `${key}=${value}:${effect}`;
