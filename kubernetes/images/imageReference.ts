/**
 * Parses image references according to the grammar that all runtimes use (C16):
 * `[registry[:port]/]path[:tag][@digest]`.
 */

export interface ImageReference {
  /** Registry and complete path without tag and digest, e.g. `docker.io/library/busybox`. */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Parses an image reference. If it is invalid, returns the reason as `refusal`. */
export function parseImageReference(text: string): ImageReference | { readonly refusal: string } {
  if (/^[a-f0-9]{64}$/.test(text)) {
    return { refusal: `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings` };
  }
  const [registry, remainder] = splitRegistry(text);
  const [path = ''] = remainder.split(':', 1);
  if (path.toLowerCase() !== path) {
    return { refusal: `invalid reference format: repository name (${path}) must be lowercase` };
  }
  const components = parseComponents(registry, remainder);
  if (components === undefined) {
    const isValidInLowerCase = parseComponents(registry.toLowerCase(), remainder.toLowerCase()) !== undefined;
    return { refusal: isValidInLowerCase ? 'repository name must be lowercase' : 'invalid reference format' };
  }
  if (components.path.length > MAX_PATH_LENGTH) {
    return { refusal: `repository name must not be more than ${MAX_PATH_LENGTH} characters` };
  }
  const digestProblem = components.digest === undefined ? undefined : digestRefusal(components.digest);
  if (digestProblem !== undefined) return { refusal: digestProblem };
  const { tag, digest } = components;
  return { repository: `${registry}/${path.split('@', 1)[0]}`, ...(tag ? { tag } : {}), ...(digest ? { digest } : {}) };
}

/** Adds the tag `latest` to a reference without tag and digest. */
export function withDefaultTag(text: string, { tag, digest }: ImageReference): string {
  return tag === undefined && digest === undefined ? `${text}:latest` : text;
}

/**
 * Returns the name under which the runtime lists an image, e.g. `docker.io/library/busybox:latest`, given its name in a
 * spec. Returns undefined for an invalid name.
 */
export function listedName(text: string): string | undefined {
  const reference = parseImageReference(text);
  if ('refusal' in reference) return undefined;
  const { repository, tag = 'latest', digest } = reference;
  return digest === undefined ? `${repository}:${tag}` : `${repository}@${digest}`;
}

const DEFAULT_REGISTRY = 'docker.io';
const MAX_PATH_LENGTH = 255;

/**
 * Splits off the registry. The part before the first slash is a registry only if it looks like a host name. A reference
 * without a registry refers to an image on Docker Hub.
 */
function splitRegistry(text: string): [registry: string, remainder: string] {
  const slashIndex = text.indexOf('/');
  const [firstPart, afterSlash] = slashIndex < 0 ? ['', text] : [text.slice(0, slashIndex), text.slice(slashIndex + 1)];
  const isRegistry = firstPart === 'localhost' || /[.:]/.test(firstPart) || firstPart.toLowerCase() !== firstPart;
  const registry = isRegistry && firstPart !== 'index.docker.io' ? firstPart : DEFAULT_REGISTRY;
  const path = isRegistry ? afterSlash : text;
  return [registry, registry === DEFAULT_REGISTRY && !path.includes('/') ? `library/${path}` : path];
}

interface Components {
  /**
   * The path to which the length limit applies. It includes the part before the first slash if that part is not a
   * registry.
   */
  readonly path: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Splits a reference into its components. Returns undefined if it does not match the grammar. */
function parseComponents(registry: string, remainder: string): Components | undefined {
  const [withoutDigest = '', ...digests] = remainder.split('@');
  const [path = '', ...tags] = withoutDigest.split(':');
  const [[tag], [digest]] = [tags, digests];
  if (tags.length > 1 || digests.length > 1 || !path.split('/').every(isPathPart)) return undefined;
  if (tag !== undefined && !/^\w[\w.-]{0,127}$/.test(tag)) return undefined;
  if (digest !== undefined && !DIGEST_PATTERN.test(digest)) return undefined;
  const suffixes = { ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
  if (isRegistryName(registry)) return { path, ...suffixes };
  return isPathPart(registry) ? { path: `${registry}/${path}`, ...suffixes } : undefined;
}

const isPathPart = (part: string): boolean => /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/.test(part);

/**
 * Whether a string is a registry name. Checks each label separately, because a single regular expression could take
 * quadratic time for a long name.
 */
function isRegistryName(text: string): boolean {
  const host = text.replace(/:[0-9]+$/, '');
  if (/^\[[a-fA-F0-9:]+\]$/.test(host)) return true;
  return host
    .split('.')
    .every((label) => /^[a-zA-Z0-9-]+$/.test(label) && !label.startsWith('-') && !label.endsWith('-'));
}

const DIGEST_PATTERN = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[a-fA-F0-9]{32,}$/;
/** Number of hexadecimal digits by digest algorithm. */
const DIGEST_LENGTHS = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
]);

function digestRefusal(digest: string): string | undefined {
  const [algorithm = '', hex = ''] = digest.split(':');
  const expectedLength = DIGEST_LENGTHS.get(algorithm);
  if (expectedLength === undefined) {
    const isWellFormed = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*$/.test(algorithm);
    return isWellFormed ? 'unsupported digest algorithm' : 'invalid checksum digest format';
  }
  if (hex.length !== expectedLength) return 'invalid checksum digest length';
  return /^[a-f0-9]+$/.test(hex) ? undefined : 'invalid checksum digest format';
}
