import { withoutSecrets } from '../../actors/sources/http/urlSecrets.ts';
import { goDuration } from '../../base/time/duration.ts';
import { isPlainObject } from '../../base/values/isObject.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { parseDuration } from '../../kubernetes/api/values/parseDuration.ts';
import { isDurationSchema } from './fields/fields.ts';
import type { NodeConfig } from './nodeConfig.ts';
import { allSettings, fieldEntries } from './settings/allSettings.ts';
import { isGroup, type SettingDefinition, type SettingGroup, type Settings } from './settings/setting.ts';
import { asFields, configuredValue, defaultInFile, isStandalone } from './settings/settingValues.ts';

type ConfigFields = Readonly<Record<string, unknown>>;

/**
 * Returns the KubeletConfiguration for `/configz`. Each field has its effective value: the one that the host or the
 * cluster determines, or else that of the flag, the configuration file or the default, in this order. Secrets are
 * masked.
 */
export function createKubeletConfiguration(config: NodeConfig): ConfigFields {
  const { flags, file } = config.userInput;
  const fields = configuredFields(allSettings(), { flags, fields: file });
  return withoutSecretFields(mergeFields(fields, effectiveFields(config)));
}

interface ConfiguredValues {
  readonly flags: ConfigFields;
  /** The fields of the configuration file or, for a group of settings, those of the group's section of the file. */
  readonly fields: ConfigFields;
}

/** Returns the fields that the kubelet reports, with their configured or default values. */
function configuredFields(settings: Settings, configured: ConfiguredValues): ConfigFields {
  const fields = fieldEntries(settings).map(([name, entry]) => {
    const value = isGroup(entry) ? groupValue(name, entry, configured) : fieldValue(name, entry, configured);
    return [name, value] as const;
  });
  return withoutUndefined(Object.fromEntries(fields));
}

function groupValue(name: string, group: SettingGroup, { flags, fields }: ConfiguredValues): ConfigFields | undefined {
  if (group.hidesDefault && lookUp(fields, name) === undefined) return undefined;
  return configuredFields(group.fields, { flags, fields: asFields(lookUp(fields, name)) });
}

/** Returns the value as Go's encoder would write it, or undefined if the encoder would omit the field. */
function fieldValue(name: string, setting: SettingDefinition, configured: ConfiguredValues): unknown {
  const defaultFileValue = setting.hidesDefault ? undefined : defaultInFile(setting, isStandalone(configured.flags));
  const value = configuredValue(name, setting, configured) ?? defaultFileValue;
  if (isEmptyValue(value) || (isZeroValue(value) && !setting.allowsZeroValue)) return undefined;
  const ms = typeof value === 'string' && isDurationSchema(setting.type) ? parseDuration(value) : undefined;
  return ms === undefined ? value : goDuration(ms);
}

const isEmptyValue = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const isZeroValue = (value: unknown): boolean => value === '' || value === 0 || value === false;

/** Returns the fields whose effective values depend on the host, the command, the cluster or other fields. */
function effectiveFields(config: NodeConfig): ConfigFields {
  const {
    serving,
    cluster,
    userInput: givenInput,
    staticPodPath,
    imageServiceEndpoint,
    containerRuntimeEndpoint,
  } = config;
  return withoutUndefined({
    podLogsDir: config.podLogsDirectory,
    resolvConf: config.resolvConf,
    containerRuntimeEndpoint,
    // The kubelet leaves this field empty if the runtime also serves the images.
    imageServiceEndpoint: imageServiceEndpoint === containerRuntimeEndpoint ? undefined : imageServiceEndpoint,
    serializeImagePulls: givenInput.file.serializeImagePulls ?? config.maxParallelImagePulls < 2,
    staticPodPath,
    registerNode: cluster?.registersNode ?? false,
    makeIPTablesUtilChains: config.hostSetup.createsUtilChains,
    ...(serving ? servingFields(serving) : {}),
  });
}

const servingFields = ({
  certificatePair,
  clientCaFile,
  authorization,
}: NonNullable<NodeConfig['serving']>): ConfigFields => ({
  tlsCertFile: certificatePair?.certFile,
  tlsPrivateKeyFile: certificatePair?.keyFile,
  authentication: { x509: withoutUndefined({ clientCAFile: clientCaFile }) },
  authorization: { mode: authorization.mode },
});

const withoutUndefined = (fields: ConfigFields): ConfigFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Merges two maps recursively. Values of `second` that are not maps replace those of `first`. */
function mergeFields(first: ConfigFields, second: ConfigFields): ConfigFields {
  const fields = new Map(Object.entries(first));
  for (const [name, value] of Object.entries(second)) {
    const previousValue = fields.get(name);
    fields.set(name, isPlainObject(previousValue) && isPlainObject(value) ? mergeFields(previousValue, value) : value);
  }
  return Object.fromEntries(fields);
}

/** Masks the password and the query of the manifest URL, and its headers. */
function withoutSecretFields({
  staticPodURL: url,
  staticPodURLHeader: headers,
  ...fields
}: ConfigFields): ConfigFields {
  return withoutUndefined({
    ...fields,
    staticPodURL: typeof url === 'string' ? withoutSecrets(url) : undefined,
    staticPodURLHeader: headers === undefined ? undefined : maskedHeaders(headers),
  });
}

/**
 * Masks the values of headers. The flag sets pairs of a name and a value, whereas the configuration file maps names to
 * lists of values.
 */
function maskedHeaders(headers: unknown): ConfigFields {
  const names = Array.isArray(headers) ? headers.map(([name]) => String(name)) : Object.keys(asFields(headers));
  return Object.fromEntries(names.map((name) => [name, ['<masked>']]));
}
