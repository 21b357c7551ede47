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

const HOST = String.raw`(?:[A-Za-z0-9.-]+(?::\d+)?\/)?`;
const PATH = String.raw`[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`;
const REFERENCE = new RegExp(String.raw`^${HOST}${PATH}(?:\/${PATH})*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`);

/** Whether a name is a valid image reference. */
export function isReference(name: string): boolean {
  return REFERENCE.test(name);
}

/** Removes the tag and the digest from a name. */
export function repositoryOf(fullName: string): string {
  const [path = ''] = fullName.split('@');
  const colon = path.indexOf(':', path.lastIndexOf('/'));
  return colon === -1 ? path : path.slice(0, colon);
}

/** Returns the SHA-256 digest of a string. */
export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
