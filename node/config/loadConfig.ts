import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { readCredentialProviders } from '../credentials/credentialProviders.ts';
import { hostAddresses, nodeIpWarnings } from '../host/hostAddresses.ts';
import { hostWarnings, readHostLimits } from '../start/checks/hostChecks.ts';
import { type ConfigFile, readConfigFile } from './files/readFile.ts';
import { type ConfigDefaults, compileConfig, type NodeConfig } from './nodeConfig.ts';
import type { Flags } from './settings/allSettings.ts';

/** The compiled configuration, and the warnings to print before the node starts. */
export interface LoadedConfig {
  readonly config: NodeConfig;
  readonly file?: ConfigFile;
  readonly warnings: readonly string[];
}

function ignoredFieldsWarning(file: ConfigFile | undefined): string[] {
  if (file === undefined || file.ignoredFields.length === 0) return [];
  return [`${file.path}: accepted, but ignored in this version: ${file.ignoredFields.join(', ')}`];
}

/**
 * Reads the configuration file and facts about the host, and compiles the configuration. Throws a `ConfigError`, whose
 * message is for the user.
 */
export async function loadConfig(
  flags: Flags,
  options: { defaults: Omit<ConfigDefaults, 'hostname' | 'addresses'>; checkHost: boolean },
): Promise<LoadedConfig> {
  const file = flags['--config'] === undefined ? undefined : await readConfigFile(flags['--config']);
  const routes = await readFile('/proc/net/route', 'utf8').catch(() => '');
  const networkInterfaceMap = networkInterfaces();
  const addresses = hostAddresses(networkInterfaceMap, routes);
  const config = compileConfig({
    flags,
    ...(file ? { file } : {}),
    defaults: { ...options.defaults, hostname: hostname(), addresses },
  });
  if (config.credentialProviders) await readCredentialProviders(config.credentialProviders);
  const hostFacts = options.checkHost ? await readHostLimits() : undefined;
  const hostWarningLines = [
    ...(hostFacts ? hostWarnings(hostFacts, config) : []),
    ...(options.checkHost ? nodeIpWarnings(config, networkInterfaceMap) : []),
  ];
  const warnings = [...ignoredFieldsWarning(file), ...hostWarningLines];
  return { config, ...(file ? { file } : {}), warnings };
}
