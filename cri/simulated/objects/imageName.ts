import { createHash } from 'node:crypto';

/** Returns the full name of an image as containerd stores it, e.g. `docker.io/library/busybox:latest` for `busybox`. */
export function fullImageName(name: string): string {
  if (name.startsWith('sha256:')) return name;
  const [first = '', ...rest] = name.split('/');
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const path = hasHost ? name : `docker.io/${rest.length > 0 ? '' : 'library/'}${name}`;
  const lastSegment = path.slice(path.lastIndexOf('/') + 1);
  return lastSegment.includes(':') || lastSegment.includes('@') ? path : `${path}:latest`;
}

const HOST_PATTERN = String.raw`(?:[A-Za-z0-9.-]+(?::\d+)?\/)?`;
const PATH_PATTERN = String.raw`[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`;
const REFERENCE_PATTERN = new RegExp(
  String.raw`^${HOST_PATTERN}${PATH_PATTERN}(?:\/${PATH_PATTERN})*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
);

export function isImageReference(name: string): boolean {
  return REFERENCE_PATTERN.test(name);
}

/** Removes the tag and the digest from a name. */
export function repositoryName(fullName: string): string {
  const [path = ''] = fullName.split('@');
  const tagIndex = path.indexOf(':', path.lastIndexOf('/'));
  return tagIndex === -1 ? path : path.slice(0, tagIndex);
}

/** Returns the SHA-256 digest of a string. */
export function computeDigest(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
