/** Validates downward API and projected volumes (`validateProjectionSources` of `core/validation`). */
import type { Problem } from '../../problem.ts';
import type { Volume } from '../../schema/volume.ts';
import { validateFieldRef, validateResourceFieldRef } from '../fieldRefs.ts';
import { validateLabelSelector } from '../metadata/labelSelectors.ts';
import { dnsLabelProblems, dnsSubdomainProblems, labelKeyProblems } from '../metadata/nameRules.ts';
import { validateAnnotationSize } from '../metadata/objectMeta.ts';
import {
  allInvalid,
  forbidden,
  invalid,
  required,
  tooLong,
  validateFileMode,
  validateOneOf,
  validateOwnPathInVolume,
  validateRequiredText,
} from '../words.ts';

type DownwardApi = NonNullable<Volume['downwardAPI']>;
type DownwardItem = NonNullable<DownwardApi['items']>[number];
type ProjectedVolume = NonNullable<Volume['projected']>;
type ProjectionSource = NonNullable<ProjectedVolume['sources']>[number];
type KeyItems = NonNullable<NonNullable<Volume['configMap']>['items']>;

const SUPPORTED_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Checks that each item has a path inside the volume and exactly one field or resource. */
export function validateDownwardApi({ items = [], defaultMode }: DownwardApi, path: string): Problem[] {
  return [
    ...validateFileMode(`${path}.defaultMode`, defaultMode),
    // Omit the index of the item, as Kubernetes does in its messages.
    ...items.flatMap((item) => validateItem(item, path)),
  ];
}

function validateItem({ path: file, mode, fieldRef, resourceFieldRef }: DownwardItem, path: string): Problem[] {
  return [
    ...validateRequiredText(`${path}.path`, file),
    ...validateOwnPathInVolume(`${path}.path`, file),
    ...validateItemSource(fieldRef, resourceFieldRef, path),
    ...validateFileMode(`${path}.mode`, mode),
  ];
}

function validateItemSource(
  fieldRef: DownwardItem['fieldRef'],
  resourceFieldRef: DownwardItem['resourceFieldRef'],
  path: string,
): Problem[] {
  if (fieldRef === undefined) {
    return resourceFieldRef === undefined
      ? [required(path, 'one of fieldRef and resourceFieldRef is required')]
      : validateResourceFieldRef(resourceFieldRef, `${path}.resourceFieldRef`, true);
  }
  return [
    ...validateFieldRef(fieldRef, SUPPORTED_FIELDS, `${path}.fieldRef`),
    ...(resourceFieldRef === undefined
      ? []
      : [invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]),
  ];
}

/** Checks that each item of a ConfigMap or Secret has a key and a path inside the volume. */
export function validateKeys(items: KeyItems = [], path: string): Problem[] {
  return items.flatMap((item, index) => validateKey(item, `${path}.items[${index}]`));
}

const validateKey = ({ key, path: file, mode }: KeyItems[number], path: string): Problem[] => [
  ...validateRequiredText(`${path}.key`, key),
  ...validateRequiredText(`${path}.path`, file),
  ...validateOwnPathInVolume(`${path}.path`, file),
  ...validateFileMode(`${path}.mode`, mode),
];

/** Checks that each source has exactly one type and that file paths are unique. */
export function validateProjected({ sources = [], defaultMode }: ProjectedVolume, path: string): Problem[] {
  const paths = new Set<string>();
  /** Reports a path that a previous file in the volume already has. `reportedValue` is the value in the message. */
  const reportDuplicatePath = (file: string, reportedValue = file): Problem[] => {
    const isDuplicate = paths.has(file);
    paths.add(file);
    return isDuplicate ? [invalid(path, reportedValue, 'conflicting duplicate paths')] : [];
  };
  return [
    ...validateFileMode(`${path}.defaultMode`, defaultMode),
    ...sources.flatMap((source, index) => {
      const itemPath = `${path}.sources[${index}]`;
      const hasSeveralTypes = Object.keys(source).length > 1;
      return [
        ...validateSource(source, path, itemPath, reportDuplicatePath),
        ...(hasSeveralTypes ? [forbidden(itemPath, 'may not specify more than 1 volume type per source')] : []),
      ];
    }),
  ];
}

type ReportDuplicatePath = (file: string, reportedValue?: string) => Problem[];

function validateSource(
  source: ProjectionSource,
  path: string,
  itemPath: string,
  reportDuplicatePath: ReportDuplicatePath,
): Problem[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  return [
    ...(secret ? validateObjectSource(secret, `${itemPath}.secret`, reportDuplicatePath) : []),
    ...(configMap ? validateObjectSource(configMap, `${itemPath}.configMap`, reportDuplicatePath) : []),
    ...(downwardAPI?.items ?? []).flatMap((item) => [
      ...validateItem(item, `${itemPath}.downwardAPI`),
      ...(item.path === '' ? [] : reportDuplicatePath(item.path)),
    ]),
    ...(serviceAccountToken ? validateToken(serviceAccountToken, path, `${itemPath}.serviceAccountToken`) : []),
    ...(clusterTrustBundle ? validateTrustBundle(clusterTrustBundle, `${itemPath}.clusterTrustBundle`) : []),
    ...(clusterTrustBundle ? reportDuplicatePath(clusterTrustBundle.path) : []),
    ...(podCertificate
      ? validatePodCertificate(podCertificate, `${itemPath}.podCertificate`, reportDuplicatePath)
      : []),
  ];
}

function validateObjectSource(
  { name = '', items = [] }: NonNullable<ProjectionSource['configMap']>,
  path: string,
  reportDuplicatePath: ReportDuplicatePath,
): Problem[] {
  return [
    ...validateRequiredText(`${path}.name`, name),
    ...items.flatMap((item, index) => [
      ...validateKey(item, `${path}.items[${index}]`),
      ...(item.path === '' ? [] : reportDuplicatePath(item.path, name)),
    ]),
  ];
}

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** Validates a token projection. Kubernetes reports the path of a token as if it were a field of the volume. */
function validateToken(
  { path: file, expirationSeconds: seconds = 3600 }: NonNullable<ProjectionSource['serviceAccountToken']>,
  path: string,
  itemPath: string,
): Problem[] {
  const lifetimeProblem = (rule: string) => [invalid(`${itemPath}.expirationSeconds`, seconds, rule)];
  return [
    ...(seconds < MIN_TOKEN_SECONDS ? lifetimeProblem('may not specify a duration less than 10 minutes') : []),
    ...(seconds > MAX_TOKEN_SECONDS ? lifetimeProblem('may not specify a duration larger than 2^32 seconds') : []),
    ...(file === '' ? [required(`${path}.path`)] : validateOwnPathInVolume(`${path}.path`, file)),
  ];
}

type TrustBundle = NonNullable<ProjectionSource['clusterTrustBundle']>;

function validateTrustBundle(bundle: TrustBundle, path: string): Problem[] {
  return [
    ...validateBundleName(bundle, path),
    ...validateRequiredText(`${path}.path`, bundle.path),
    ...validateOwnPathInVolume(`${path}.path`, bundle.path),
  ];
}

function validateBundleName(bundle: TrustBundle, path: string): Problem[] {
  const { name, signerName, labelSelector, optional, path: file } = bundle;
  if (name !== undefined && signerName !== undefined) {
    const goValue = {
      Name: name,
      SignerName: signerName,
      LabelSelector: labelSelector ?? null,
      Optional: optional ?? null,
      Path: file,
    };
    return [invalid(path, goValue, 'only one of name and signerName may be used')];
  }
  if (name !== undefined) {
    return [
      ...(name === '' ? [required(`${path}.name`, 'must be a valid object name')] : []),
      ...allInvalid(
        `${path}.name`,
        name,
        bundleNameProblems(name).map((rule) => `not a valid clustertrustbundlename: ${rule}`),
      ),
      ...(labelSelector === undefined
        ? []
        : [invalid(`${path}.labelSelector`, labelSelector, 'labelSelector must be unset if name is specified')]),
    ];
  }
  if (signerName === undefined) return [required(path, 'either name or signerName must be specified')];
  return [
    ...(signerName === '' ? [required(`${path}.signerName`, 'must be a valid signer name')] : []),
    ...validateSignerName(signerName, `${path}.signerName`),
    ...(labelSelector === undefined ? [] : validateLabelSelector(labelSelector, `${path}.labelSelector`)),
  ];
}

/**
 * Checks a bundle's name. If the bundle has a signer, the name must start with the signer's name
 * (`ValidateClusterTrustBundleName`).
 */
function bundleNameProblems(name: string): string[] {
  return dnsSubdomainProblems(name.slice(name.lastIndexOf(':') + 1));
}

const MAX_DOMAIN_LENGTH = 253;
const MAX_SIGNER_PATH_LENGTH = 253 + 63 + 1;

/**
 * Checks a signer's name, which consists of a domain, a slash and a path (`ValidateSignerName` of
 * `core/validation/names.go`).
 */
function validateSignerName(name: string, path: string): Problem[] {
  if (name === '') return [required(path)];
  const [domain = '', signerPath = '', ...extraParts] = name.split('/');
  if (extraParts.length > 0 || !name.includes('/')) {
    const format = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(path, name, format)];
  }
  const firstInvalidLabel = (labels: readonly string[], rules: (label: string) => string[]): string[] => {
    const invalidLabel = labels.find((label) => rules(label).length > 0);
    if (invalidLabel === undefined) return [];
    return rules(invalidLabel).map((rule) => `validating label ${JSON.stringify(invalidLabel)}: ${rule}`);
  };
  const labels = domain.split('.');
  const maxLength = MAX_DOMAIN_LENGTH + MAX_SIGNER_PATH_LENGTH + 1;
  const rule = 'should be a domain with at least two segments separated by dots';
  return [
    ...(domain.length > MAX_DOMAIN_LENGTH ? [tooLong(path, MAX_DOMAIN_LENGTH)] : []),
    ...allInvalid(path, domain, firstInvalidLabel(labels, dnsLabelProblems)),
    ...(labels.length < 2 ? [invalid(path, domain, rule)] : []),
    ...allInvalid(
      path,
      signerPath,
      firstInvalidLabel(signerPath.split('.'), (label) => dnsSubdomainProblems(label)),
    ),
    ...(name.length > maxLength ? [tooLong(path, maxLength)] : []),
  ];
}

const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const MIN_CERTIFICATE_SECONDS = 3600;
const DAY_SECONDS = 24 * 3600;
const MAX_CERTIFICATE_SECONDS = 91 * DAY_SECONDS;

function validatePodCertificate(
  source: NonNullable<ProjectionSource['podCertificate']>,
  path: string,
  reportDuplicatePath: ReportDuplicatePath,
): Problem[] {
  const { signerName, userAnnotations = {}, keyType, maxExpirationSeconds } = source;
  const { credentialBundlePath = '', keyPath = '', certificateChainPath = '' } = source;
  const files = Object.entries({ credentialBundlePath, keyPath, certificateChainPath }).filter(
    ([, file]) => file !== '',
  );
  const rule = 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath';
  return [
    ...validateSignerName(signerName, `${path}.signerName`),
    ...Object.keys(userAnnotations).flatMap((key) => validateUserAnnotation(key, `${path}.userAnnotations`)),
    ...validateAnnotationSize(userAnnotations, `${path}.userAnnotations`),
    ...validateOneOf(`${path}.keyType`, keyType, KEY_TYPES),
    ...validateLifetime(signerName, maxExpirationSeconds, `${path}.maxExpirationSeconds`),
    ...files.flatMap(([field, file]) => [
      ...validateOwnPathInVolume(`${path}.${field}`, file),
      ...reportDuplicatePath(file),
    ]),
    ...(files.length === 0 ? [required(path, rule)] : []),
  ];
}

function validateUserAnnotation(name: string, path: string): Problem[] {
  const key = name.toLowerCase();
  if (key === '') return [required(path)];
  const problems = allInvalid(path, key, labelKeyProblems(key));
  if (problems.length > 0 || key.includes('/')) return problems;
  return [invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')];
}

/** Checks the lifetime of a certificate. The maximum is one day for signers in the kubernetes.io domain. */
function validateLifetime(signerName: string, seconds: number | undefined, path: string): Problem[] {
  if (seconds === undefined) return [];
  const isKubernetesSigner = /^([^/]+\.)?kubernetes\.io(\/|$)/.test(signerName);
  const maxSeconds = isKubernetesSigner ? DAY_SECONDS : MAX_CERTIFICATE_SECONDS;
  return [
    ...(seconds < MIN_CERTIFICATE_SECONDS
      ? [invalid(path, seconds, `if provided, maxExpirationSeconds must be >= ${MIN_CERTIFICATE_SECONDS}`)]
      : []),
    ...(seconds > maxSeconds
      ? [invalid(path, seconds, `if provided, maxExpirationSeconds must be <= ${maxSeconds}`)]
      : []),
  ];
}
