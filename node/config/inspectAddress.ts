/** Where the page of a node is served, and what others who reach it are to trust it by. */
import { addressIn, type InspectAddress, isLoopback } from '../../inspect/address.ts';
import { ConfigError } from './configError.ts';
import type { Flags } from './flags.ts';
import type { KubeletConfiguration } from './kubeletConfiguration.ts';

/** An address, and where others reach it a certificate. */
export interface InspectConfig {
  readonly address: InspectAddress;
  /** The paths of PEM files. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

const DEFAULT_ADDRESS = '127.0.0.1:10270';

/** Compiles it; throws a `ConfigError` where others would reach it without TLS. */
export function inspectOf(flags: Flags, file: KubeletConfiguration | undefined): { readonly inspect?: InspectConfig } {
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = file ?? {};
  const text = flags['--inspect-address'] ?? DEFAULT_ADDRESS;
  const address = addressIn(text);
  if (address === undefined) return {};
  if (isLoopback(address)) return { inspect: Object.freeze({ address }) };
  if (!certFile || !keyFile)
    throw new ConfigError(
      `--inspect-address ${text}: an address that other hosts reach needs TLS: set tlsCertFile and tlsPrivateKeyFile in the configuration file`,
    );
  return { inspect: Object.freeze({ address, tls: Object.freeze({ certFile, keyFile }) }) };
}
