/** Checks of downwardAPI and projected volumes (`validateProjectionSources` of `core/validation`). */
import type { Problem } from '../problem.ts';
import type { Volume } from '../schema/volume.ts';
import { validateFieldRef, validateResourceFieldRef } from './fieldRefs.ts';
import { validateLabelSelector } from './labelSelectors.ts';
import { dnsLabel, dnsSubdomain, labelKey } from './nameRules.ts';
import { validateAnnotationSize } from './objectMeta.ts';
import {
  allInvalid,
  fileMode,
  forbidden,
  invalid,
  oneOf,
  ownPathInVolume,
  required,
  requiredText,
  tooLong,
} from './words.ts';

type DownwardApi = NonNullable<Volume['downwardAPI']>;
type Item = NonNullable<DownwardApi['items']>[number];
type Projected = NonNullable<Volume['projected']>;
type Source = NonNullable<Projected['sources']>[number];
type Keys = NonNullable<NonNullable<Volume['configMap']>['items']>;

const FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

/** Checks that each item has a path within the volume and one field or resource. */
export function validateDownwardApi({ items = [], defaultMode }: DownwardApi, path: string): Problem[] {
  return [
    ...fileMode(`${path}.defaultMode`, defaultMode),
    // Kubernetes reports items without their index.
    ...items.flatMap((item) => validateItem(item, path)),
  ];
}

function validateItem({ path: file, mode, fieldRef, resourceFieldRef }: Item, path: string): Problem[] {
  return [
    ...requiredText(`${path}.path`, file),
    ...ownPathInVolume(`${path}.path`, file),
    ...validateShown(fieldRef, resourceFieldRef, path),
    ...fileMode(`${path}.mode`, mode),
  ];
}

function validateShown(
  fieldRef: Item['fieldRef'],
  resourceFieldRef: Item['resourceFieldRef'],
  path: string,
): Problem[] {
  if (fieldRef === undefined) {
    return resourceFieldRef === undefined
      ? [required(path, 'one of fieldRef and resourceFieldRef is required')]
      : validateResourceFieldRef(resourceFieldRef, `${path}.resourceFieldRef`, true);
  }
  return [
    ...validateFieldRef(fieldRef, FIELDS, `${path}.fieldRef`),
    ...(resourceFieldRef === undefined
      ? []
      : [invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]),
  ];
}

/** Checks the items of a ConfigMap or a Secret: each has a key and a path within the volume. */
export function validateKeys(items: Keys = [], path: string): Problem[] {
  return items.flatMap((item, index) => validateKey(item, `${path}.items[${index}]`));
}

const validateKey = ({ key, path: file, mode }: Keys[number], path: string): Problem[] => [
  ...requiredText(`${path}.key`, key),
  ...requiredText(`${path}.path`, file),
  ...ownPathInVolume(`${path}.path`, file),
  ...fileMode(`${path}.mode`, mode),
];

/** Checks that each source is of one type and that no two files have the same path. */
export function validateProjected({ sources = [], defaultMode }: Projected, path: string): Problem[] {
  const paths = new Set<string>();
  /** Reports a path that another file has; `shown` is the value that Kubernetes names then. */
  const reportTaken = (file: string, shown = file): Problem[] => {
    const isTaken = paths.has(file);
    paths.add(file);
    return isTaken ? [invalid(path, shown, 'conflicting duplicate paths')] : [];
  };
  return [
    ...fileMode(`${path}.defaultMode`, defaultMode),
    ...sources.flatMap((source, index) => {
      const at = `${path}.sources[${index}]`;
      const isMixed = Object.keys(source).length > 1;
      return [
        ...validateSource(source, path, at, reportTaken),
        ...(isMixed ? [forbidden(at, 'may not specify more than 1 volume type per source')] : []),
      ];
    }),
  ];
}

type ReportTaken = (file: string, shown?: string) => Problem[];

function validateSource(source: Source, path: string, at: string, reportTaken: ReportTaken): Problem[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  return [
    ...(secret ? validateNamed(secret, `${at}.secret`, reportTaken) : []),
    ...(configMap ? validateNamed(configMap, `${at}.configMap`, reportTaken) : []),
    ...(downwardAPI?.items ?? []).flatMap((item) => [
      ...validateItem(item, `${at}.downwardAPI`),
      ...(item.path === '' ? [] : reportTaken(item.path)),
    ]),
    ...(serviceAccountToken ? validateToken(serviceAccountToken, path, `${at}.serviceAccountToken`) : []),
    ...(clusterTrustBundle ? validateTrustBundle(clusterTrustBundle, `${at}.clusterTrustBundle`) : []),
    ...(clusterTrustBundle ? reportTaken(clusterTrustBundle.path) : []),
    ...(podCertificate ? validatePodCertificate(podCertificate, `${at}.podCertificate`, reportTaken) : []),
  ];
}

function validateNamed(
  { name = '', items = [] }: NonNullable<Source['configMap']>,
  path: string,
  reportTaken: ReportTaken,
): Problem[] {
  return [
    ...requiredText(`${path}.name`, name),
    ...items.flatMap((item, index) => [
      ...validateKey(item, `${path}.items[${index}]`),
      ...(item.path === '' ? [] : reportTaken(item.path, name)),
    ]),
  ];
}

const SHORTEST_TOKEN_SECONDS = 600;
const LONGEST_TOKEN_SECONDS = 2 ** 32;

/** Kubernetes reports the path of a token as one of the volume. */
function validateToken(
  { path: file, expirationSeconds: seconds = 3600 }: NonNullable<Source['serviceAccountToken']>,
  path: string,
  at: string,
): Problem[] {
  const wrong = (rule: string) => [invalid(`${at}.expirationSeconds`, seconds, rule)];
  return [
    ...(seconds < SHORTEST_TOKEN_SECONDS ? wrong('may not specify a duration less than 10 minutes') : []),
    ...(seconds > LONGEST_TOKEN_SECONDS ? wrong('may not specify a duration larger than 2^32 seconds') : []),
    ...(file === '' ? [required(`${path}.path`)] : ownPathInVolume(`${path}.path`, file)),
  ];
}

type TrustBundle = NonNullable<Source['clusterTrustBundle']>;

function validateTrustBundle(bundle: TrustBundle, path: string): Problem[] {
  return [
    ...validateBundleName(bundle, path),
    ...requiredText(`${path}.path`, bundle.path),
    ...ownPathInVolume(`${path}.path`, bundle.path),
  ];
}

function validateBundleName(bundle: TrustBundle, path: string): Problem[] {
  const { name, signerName, labelSelector, optional, path: file } = bundle;
  if (name !== undefined && signerName !== undefined) {
    const shown = {
      Name: name,
      SignerName: signerName,
      LabelSelector: labelSelector ?? null,
      Optional: optional ?? null,
      Path: file,
    };
    return [invalid(path, shown, 'only one of name and signerName may be used')];
  }
  if (name !== undefined) {
    return [
      ...(name === '' ? [required(`${path}.name`, 'must be a valid object name')] : []),
      ...allInvalid(
        `${path}.name`,
        name,
        bundleName(name).map((rule) => `not a valid clustertrustbundlename: ${rule}`),
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

/** A bundle of a signer has the signer's name before its own (`ValidateClusterTrustBundleName`). */
function bundleName(name: string): string[] {
  return dnsSubdomain(name.slice(name.lastIndexOf(':') + 1));
}

const LONGEST_DOMAIN = 253;
const LONGEST_SIGNER_PATH = 253 + 63 + 1;

/** Checks a signer's name: a domain, a slash and a path (`ValidateSignerName` of `core/validation/names.go`). */
function validateSignerName(name: string, path: string): Problem[] {
  if (name === '') return [required(path)];
  const [domain = '', rest = '', ...others] = name.split('/');
  if (others.length > 0 || !name.includes('/')) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(path, name, form)];
  }
  const firstWrong = (labels: readonly string[], rules: (label: string) => string[]): string[] => {
    const wrong = labels.find((label) => rules(label).length > 0);
    if (wrong === undefined) return [];
    return rules(wrong).map((rule) => `validating label ${JSON.stringify(wrong)}: ${rule}`);
  };
  const labels = domain.split('.');
  const most = LONGEST_DOMAIN + LONGEST_SIGNER_PATH + 1;
  const rule = 'should be a domain with at least two segments separated by dots';
  return [
    ...(domain.length > LONGEST_DOMAIN ? [tooLong(path, LONGEST_DOMAIN)] : []),
    ...allInvalid(path, domain, firstWrong(labels, dnsLabel)),
    ...(labels.length < 2 ? [invalid(path, domain, rule)] : []),
    ...allInvalid(
      path,
      rest,
      firstWrong(rest.split('.'), (label) => dnsSubdomain(label)),
    ),
    ...(name.length > most ? [tooLong(path, most)] : []),
  ];
}

const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const SHORTEST_CERTIFICATE_SECONDS = 3600;
const DAY_SECONDS = 24 * 3600;
const LONGEST_CERTIFICATE_SECONDS = 91 * DAY_SECONDS;

function validatePodCertificate(
  source: NonNullable<Source['podCertificate']>,
  path: string,
  reportTaken: ReportTaken,
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
    ...oneOf(`${path}.keyType`, keyType, KEY_TYPES),
    ...validateLifetime(signerName, maxExpirationSeconds, `${path}.maxExpirationSeconds`),
    ...files.flatMap(([field, file]) => [...ownPathInVolume(`${path}.${field}`, file), ...reportTaken(file)]),
    ...(files.length === 0 ? [required(path, rule)] : []),
  ];
}

function validateUserAnnotation(name: string, path: string): Problem[] {
  const key = name.toLowerCase();
  if (key === '') return [required(path)];
  const problems = allInvalid(path, key, labelKey(key));
  if (problems.length > 0 || key.includes('/')) return problems;
  return [invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')];
}

/** The signers of Kubernetes itself sign for a day at most. */
function validateLifetime(signerName: string, seconds: number | undefined, path: string): Problem[] {
  if (seconds === undefined) return [];
  const isOfKubernetes = /^([^/]+\.)?kubernetes\.io(\/|$)/.test(signerName);
  const most = isOfKubernetes ? DAY_SECONDS : LONGEST_CERTIFICATE_SECONDS;
  return [
    ...(seconds < SHORTEST_CERTIFICATE_SECONDS
      ? [invalid(path, seconds, `if provided, maxExpirationSeconds must be >= ${SHORTEST_CERTIFICATE_SECONDS}`)]
      : []),
    ...(seconds > most ? [invalid(path, seconds, `if provided, maxExpirationSeconds must be <= ${most}`)] : []),
  ];
}
