/** The names of images by the grammar that runtimes share (C16): `[registry[:port]/]path[:tag][@digest]`. */

/** What a name says. */
export interface ImageReference {
  /** With the registry and the whole path, without tag and digest: `docker.io/library/busybox`. */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Reads a name as it is written; of what is none, why. */
export function parseImageReference(text: string): ImageReference | { readonly refusal: string } {
  if (/^[a-f0-9]{64}$/.test(text)) {
    return { refusal: `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings` };
  }
  const [registry, rest] = splitRegistry(text);
  const [path = ''] = rest.split(':', 1);
  if (path.toLowerCase() !== path) {
    return { refusal: `invalid reference format: repository name (${path}) must be lowercase` };
  }
  const parts = partsOf(registry, rest);
  if (parts === undefined) {
    const isOtherwise = partsOf(registry.toLowerCase(), rest.toLowerCase()) !== undefined;
    return { refusal: isOtherwise ? 'repository name must be lowercase' : 'invalid reference format' };
  }
  if (parts.path.length > LONGEST_PATH) {
    return { refusal: `repository name must not be more than ${LONGEST_PATH} characters` };
  }
  const wrong = parts.digest === undefined ? undefined : digestRefusal(parts.digest);
  if (wrong !== undefined) return { refusal: wrong };
  const { tag, digest } = parts;
  return { repository: `${registry}/${path.split('@', 1)[0]}`, ...(tag ? { tag } : {}), ...(digest ? { digest } : {}) };
}

/** The name with the tag that it has when it names neither tag nor digest. */
export function withDefaultTag(text: string, { tag, digest }: ImageReference): string {
  return tag === undefined && digest === undefined ? `${text}:latest` : text;
}

const DEFAULT_REGISTRY = 'docker.io';
const LONGEST_PATH = 255;

/** What stands before the first slash is a registry only when it looks like one; short names are those of Docker Hub. */
function splitRegistry(text: string): [registry: string, rest: string] {
  const slash = text.indexOf('/');
  const [first, rest] = slash < 0 ? ['', text] : [text.slice(0, slash), text.slice(slash + 1)];
  const isRegistry = first === 'localhost' || /[.:]/.test(first) || first.toLowerCase() !== first;
  const registry = isRegistry && first !== 'index.docker.io' ? first : DEFAULT_REGISTRY;
  const path = isRegistry ? rest : text;
  return [registry, registry === DEFAULT_REGISTRY && !path.includes('/') ? `library/${path}` : path];
}

interface Parts {
  /** What the limit of length is for: without the registry, unless that is only a part of the path. */
  readonly path: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** The grammar; undefined for what does not follow it. */
function partsOf(registry: string, rest: string): Parts | undefined {
  const [before = '', ...digests] = rest.split('@');
  const [path = '', ...tags] = before.split(':');
  const [[tag], [digest]] = [tags, digests];
  if (tags.length > 1 || digests.length > 1 || !path.split('/').every(isPathPart)) return undefined;
  if (tag !== undefined && !/^\w[\w.-]{0,127}$/.test(tag)) return undefined;
  if (digest !== undefined && !DIGEST.test(digest)) return undefined;
  const said = { ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
  if (isRegistryName(registry)) return { path, ...said };
  return isPathPart(registry) ? { path: `${registry}/${path}`, ...said } : undefined;
}

const isPathPart = (part: string): boolean => /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/.test(part);

/** Taken apart first: one expression for the whole could take quadratic time over a long name. */
function isRegistryName(text: string): boolean {
  const host = text.replace(/:[0-9]+$/, '');
  if (/^\[[a-fA-F0-9:]+\]$/.test(host)) return true;
  return host
    .split('.')
    .every((label) => /^[a-zA-Z0-9-]+$/.test(label) && !label.startsWith('-') && !label.endsWith('-'));
}

const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[a-fA-F0-9]{32,}$/;
/** How many hexadecimal digits the digests of each kind have. */
const DIGITS = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
]);

function digestRefusal(digest: string): string | undefined {
  const [algorithm = '', hex = ''] = digest.split(':');
  const digits = DIGITS.get(algorithm);
  if (digits === undefined) {
    const isWellFormed = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*$/.test(algorithm);
    return isWellFormed ? 'unsupported digest algorithm' : 'invalid checksum digest format';
  }
  if (hex.length !== digits) return 'invalid checksum digest length';
  return /^[a-f0-9]+$/.test(hex) ? undefined : 'invalid checksum digest format';
}
