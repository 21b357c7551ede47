/** Compiles the address, certificate and access settings of the node's web page. */
import { resolve } from 'node:path';
import { isLoopback, type PageAddress, parsePageAddress } from '../../../inspect/address.ts';
import { ConfigError } from '../configError.ts';
import type { SettingValues } from '../settings/settingValues.ts';

/** The page's address, with a certificate if other hosts can reach it. */
export interface InspectConfig extends PageAddress {
  /** Paths of the PEM files with the page's certificate and private key. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

/**
 * Compiles the address and the certificate of the page. Throws a `ConfigError` if other hosts could reach the page
 * without TLS or without a token.
 */
export function compileInspect(values: SettingValues): { readonly inspect?: InspectConfig } {
  const { '--inspect-address': text, tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = values;
  const pageAddress = parsePageAddress(text);
  if (pageAddress === undefined) return {};
  if (isLoopback(pageAddress.address)) return { inspect: Object.freeze(pageAddress) };
  if (pageAddress.isOpen)
    throw new ConfigError(
      `--inspect-address ${text}: "?open" is only for an address that no other host reaches, such as 127.0.0.1`,
    );
  if (!certFile || !keyFile)
    throw new ConfigError(
      `--inspect-address ${text}: an address that other hosts reach needs TLS: set tlsCertFile and tlsPrivateKeyFile in the configuration file`,
    );
  return {
    inspect: Object.freeze({
      ...pageAddress,
      tls: Object.freeze({ certFile: resolve(certFile), keyFile: resolve(keyFile) }),
    }),
  };
}
