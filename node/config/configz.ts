import { withoutSecrets } from '../../actors/sources/http/urlSecrets.ts';
import { goDuration } from '../../base/duration.ts';
import { lookUp } from '../../base/lookUp.ts';
import { parseDuration } from '../../kubernetes/api/parseDuration.ts';
import { isDuration } from './fields.ts';
import type { NodeConfig } from './nodeConfig.ts';
import { allSettings, fieldEntries } from './settings/allSettings.ts';
import { type Group, isGroup, type Setting, type Settings } from './settings/setting.ts';
import { asFields, configuredValue, isStandalone, writtenDefault } from './settings/settingValues.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the configuration at `/configz`: for each field the value of the flag, else of the file, else the default. If
 * the host or the cluster determines the effective value, that value replaces it. Secrets are left out.
 */
export function kubeletConfigurationOf(config: NodeConfig): Fields {
  const { flags, file } = config.given;
  const fields = configuredFields(allSettings(), { flags, fields: file });
  return withoutSecretFields(merged(fields, effectiveFields(config)));
}

interface Configured {
  readonly flags: Fields;
  /** The fields of the file, or of the section of the file that corresponds to a group. */
  readonly fields: Fields;
}

/** Returns the fields that a kubelet reports, as configured or by default. */
function configuredFields(settings: Settings, configured: Configured): Fields {
  const fields = fieldEntries(settings).map(([name, entry]) => {
    const value = isGroup(entry) ? groupValue(name, entry, configured) : fieldValue(name, entry, configured);
    return [name, value] as const;
  });
  return definedOnly(Object.fromEntries(fields));
}

function groupValue(name: string, group: Group, { flags, fields }: Configured): Fields | undefined {
  if (group.hidesDefault && lookUp(fields, name) === undefined) return undefined;
  return configuredFields(group.fields, { flags, fields: asFields(lookUp(fields, name)) });
}

/** Returns the value in the form that Go's encoder writes. Undefined if the encoder leaves out the field. */
function fieldValue(name: string, setting: Setting, configured: Configured): unknown {
  const byDefault = setting.hidesDefault ? undefined : writtenDefault(setting, isStandalone(configured.flags));
  const value = configuredValue(name, setting, configured) ?? byDefault;
  if (isEmpty(value) || (isZero(value) && !setting.keepsZero)) return undefined;
  const ms = typeof value === 'string' && isDuration(setting.type) ? parseDuration(value) : undefined;
  return ms === undefined ? value : goDuration(ms);
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const isZero = (value: unknown): boolean => value === '' || value === 0 || value === false;

/** Returns the fields whose effective values depend on the host, the command, the cluster or other fields. */
function effectiveFields(config: NodeConfig): Fields {
  const { serving, cluster, given, staticPodPath, imageServiceEndpoint, containerRuntimeEndpoint } = config;
  return definedOnly({
    podLogsDir: config.podLogsDirectory,
    resolvConf: config.resolvConf,
    containerRuntimeEndpoint,
    // A kubelet leaves this field empty if the runtime also serves the images.
    imageServiceEndpoint: imageServiceEndpoint === containerRuntimeEndpoint ? undefined : imageServiceEndpoint,
    serializeImagePulls: given.file.serializeImagePulls ?? config.maxParallelImagePulls < 2,
    staticPodPath,
    registerNode: cluster?.registersNode ?? false,
    ...(serving ? servingFields(serving) : {}),
  });
}

const servingFields = ({ pair, clientCaFile, authorization }: NonNullable<NodeConfig['serving']>): Fields => ({
  tlsCertFile: pair?.certFile,
  tlsPrivateKeyFile: pair?.keyFile,
  authentication: { x509: definedOnly({ clientCAFile: clientCaFile }) },
  authorization: { mode: authorization.mode },
});

const definedOnly = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges two values. Maps are merged field by field, and any other value of `second` replaces that of `first`. */
function merged(first: Fields, second: Fields): Fields {
  const fields = new Map(Object.entries(first));
  for (const [name, value] of Object.entries(second)) {
    const before = fields.get(name);
    fields.set(name, isFields(before) && isFields(value) ? merged(before, value) : value);
  }
  return Object.fromEntries(fields);
}

/** Masks the password and the query of the manifest URL, and its headers. */
function withoutSecretFields({ staticPodURL: url, staticPodURLHeader: headers, ...fields }: Fields): Fields {
  return definedOnly({
    ...fields,
    staticPodURL: typeof url === 'string' ? withoutSecrets(url) : undefined,
    staticPodURLHeader: headers === undefined ? undefined : maskedHeaders(headers),
  });
}

/** Masks the values of headers. The flag has pairs of a name and a value, and the file has lists of values by name. */
function maskedHeaders(headers: unknown): Fields {
  const names = Array.isArray(headers) ? headers.map(([name]) => String(name)) : Object.keys(asFields(headers));
  return Object.fromEntries(names.map((name) => [name, ['<masked>']]));
}
